/* The colour of a load: by its logarithm, so that a doubling is the same step everywhere. */
const DARKEST = 1 / 32, OCTAVES = 9;
const STOPS = [
  [1 / 32, 0x1a, 0x25, 0x49], [1 / 8, 0x24, 0x40, 0x70], [1 / 2, 0x3a, 0x68, 0x8c],
  [1, 0x2e, 0xa8, 0x84], [2, 0xcf, 0x8e, 0x3c], [4, 0xf2, 0xae, 0x3e],
  [8, 0xff, 0xd6, 0x72], [16, 0xff, 0xf8, 0xdc],
];
const NO_LOAD = [0x0c, 0x10, 0x1d];

const colourOf = (value) => {
  if (!(value > 0)) return NO_LOAD;
  const at = STOPS.findIndex((stop) => stop[0] >= value);
  if (at === 0) return STOPS[0].slice(1);
  if (at < 0) return STOPS[STOPS.length - 1].slice(1);
  const [low, high] = [STOPS[at - 1], STOPS[at]];
  const part = Math.log2(value / low[0]) / Math.log2(high[0] / low[0]);
  return [1, 2, 3].map((n) => Math.round(low[n] + part * (high[n] - low[n])));
};

/* A level is the exponent of a load and the first five bits after it, as a 32-bit float has them:
   it rises with the load, 32 times in an octave, and is found without a logarithm. Level 0 is no
   load, level 1 any load below 2 ** LOWEST. */
const LOWEST = -24, HIGHEST = 10, STEPS = 32, LEVELS = (HIGHEST - LOWEST) * STEPS;
const FLOAT = new Float32Array(1), BITS = new Uint32Array(FLOAT.buffer);
const FIRST_LEVEL = (LOWEST + 127) * STEPS - 1;

const levelOf = (value) => {
  if (!(value > 0)) return 0;
  FLOAT[0] = value;
  const level = (BITS[0] >>> 18) - FIRST_LEVEL;
  return level < 1 ? 1 : level > LEVELS ? LEVELS : level;
};

/* The colours of all levels, as pixels; each step of brightness doubles the loads. */
const buildPalette = (brightness) => {
  const palette = new Uint32Array(LEVELS + 1);
  for (let level = 0; level <= LEVELS; level += 1) {
    BITS[0] = ((level + FIRST_LEVEL) << 18) | (1 << 17);
    const [red, green, blue] = colourOf(level ? FLOAT[0] * 2 ** brightness : 0);
    palette[level] = (255 << 24) | (blue << 16) | (green << 8) | red;
  }
  return palette;
};
