/* Counts as the page holds them: LEB128 numbers, compressed, in base 64. A zero is followed by the
   number of further zeros. */
const unpackCounts = async (packed, size) => {
  const text = atob(packed), bytes = new Uint8Array(text.length);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = text.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const numbers = new Uint8Array(await new Response(stream).arrayBuffer());
  const counts = new Float64Array(size);
  let at = 0, place = 0;
  const readNumber = () => {
    let value = 0, scale = 1, byte;
    do {
      byte = numbers[at];
      at += 1;
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte > 127);
    return value;
  };
  while (at < numbers.length) {
    const count = readNumber();
    if (count) {
      counts[place] = count;
      place += 1;
    } else place += readNumber() + 1;
  }
  return counts;
};
