/* Reads a view that is not in the page. Only the portal has this file: a report makes no request. */
const readSource = async (source) => {
  const response = await fetch(source);
  if (!response.ok) throw new Error(`${source}: ${response.status}`);
  return response.json();
};
