/* Times and figures as text. */

/* Instants in UTC, as ISO 8601 has them; beyond what a calendar has, seconds. */
const instant = (seconds) => {
  const time = new Date(seconds * 1000);
  return Number.isNaN(time.valueOf())
    ? `${seconds} s` : time.toISOString().slice(0, 19).replace("T", " ");
};

/* An instant as short as it may be where the next one shown is so many seconds later. */
const shortInstant = (seconds, step) => {
  const text = instant(seconds);
  return step > 2 * 86400 ? text.slice(0, 10) : step > 120 ? text.slice(5, 16) : text.slice(11, 19);
};

const formatFactor = (value) => (value < 10 ? value.toFixed(2) : value.toFixed(1));

const formatShare = (value, language) => value.toLocaleString(language,
  { style: "percent", maximumSignificantDigits: value < 1 ? 2 : 3 });

/* Operations a second with three digits. */
const formatRate = (value, language) =>
  value.toLocaleString(language, { maximumSignificantDigits: 3 });

/* A value of a scale: multiples of a fair share, or parts of a capacity. */
const formatValue = (value, scale, language) =>
  (scale === "capacity" ? formatShare(value, language) : `${formatFactor(value)}×`);

/* A power of two as a label of a scale. */
const FRACTIONS = { [-3]: "⅛", [-2]: "¼", [-1]: "½" };
const formatTick = (exponent, scale, language) => {
  if (scale === "capacity") return formatShare(2 ** exponent, language);
  return `${FRACTIONS[exponent] ?? (exponent < 0 ? `1/${2 ** -exponent}` : 2 ** exponent)}×`;
};

/* A row key as the shell of HBase writes it, from hexadecimal digits. */
const formatShellKey = (hex) => (hex.match(/../g) ?? []).map((digits) => {
  const code = parseInt(digits, 16), sign = String.fromCharCode(code);
  return code > 31 && code < 127 && sign !== "\\" && sign !== '"' ? sign : `\\x${digits.toUpperCase()}`;
}).join("");
