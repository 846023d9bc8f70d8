"use strict";
// Streams of the page: LZMA with its header of 13 bytes (properties, size of the dictionary, size unknown) and an end
// marker, written in 85 signs, five for four bytes. Decoded as the LZMA specification of 7-Zip describes it.
const SIGNS = new Map([..."0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%,()*+-;.=/?@^_`{|}~"].map((sign, value) => [sign.charCodeAt(0), value]));
function bytesOf(text) {
  const digits = new Uint8Array(Math.ceil(text.length / 5) * 5).fill(84);
  for (let place = 0; place < text.length; place += 1) digits[place] = SIGNS.get(text.charCodeAt(place));
  const view = new DataView(new ArrayBuffer((digits.length / 5) * 4));
  for (let group = 0; group < digits.length / 5; group += 1) {
    let number = 0;
    for (let place = 5 * group; place < 5 * group + 5; place += 1) number = 85 * number + digits[place];
    view.setUint32(4 * group, number);
  }
  return new Uint8Array(view.buffer, 0, view.byteLength - (digits.length - text.length));
}

const [N_STATES, N_POSITIONS, LITERAL_SIZE, FIRST_LENGTH] = [12, 16, 0x300, 2];
const [MAX_PROBABILITY_BITS, ADAPTATION, HALF] = [11, 5, 1024];
const even = (size) => new Uint16Array(size).fill(HALF);

// The range decoder: bits by adaptive probabilities, and bits that are equally probable.
class Bits {
  constructor(bytes, at) {
    this.bytes = bytes;
    this.at = at + 5;
    this.range = 2 ** 32 - 1;
    this.code = new DataView(bytes.buffer, bytes.byteOffset).getUint32(at + 1);
  }
  refill() {
    if (this.range >= 2 ** 24) return;
    if (this.at > this.bytes.length) throw new Error("A part of this page is damaged.");
    this.range *= 256;
    this.code = 256 * this.code + (this.bytes[this.at] ?? 0);
    this.at += 1;
  }
  one(probabilities, index) {
    const probability = probabilities[index];
    const bound = (this.range >>> MAX_PROBABILITY_BITS) * probability;
    const isOne = this.code >= bound;
    if (isOne) {
      this.range -= bound;
      this.code -= bound;
      probabilities[index] = probability - (probability >>> ADAPTATION);
    } else {
      this.range = bound;
      probabilities[index] = probability + ((2 * HALF - probability) >>> ADAPTATION);
    }
    this.refill();
    return isOne ? 1 : 0;
  }
  direct(number) {
    let value = 0;
    for (let bit = 0; bit < number; bit += 1) {
      this.range >>>= 1;
      const isOne = this.code >= this.range;
      if (isOne) this.code -= this.range;
      value = 2 * value + (isOne ? 1 : 0);
      this.refill();
    }
    return value;
  }
  tree(probabilities, offset, number) {
    let node = 1;
    for (let bit = 0; bit < number; bit += 1) node = 2 * node + this.one(probabilities, offset + node);
    return node - 2 ** number;
  }
  reversed(probabilities, offset, number) {
    let [node, value] = [1, 0];
    for (let bit = 0; bit < number; bit += 1) {
      const found = this.one(probabilities, offset + node);
      node = 2 * node + found;
      value += found * 2 ** bit;
    }
    return value;
  }
}

class Lengths {
  constructor() {
    this.choices = even(2);
    this.low = even(8 * N_POSITIONS);
    this.middle = even(8 * N_POSITIONS);
    this.high = even(256);
  }
  next(bits, position) {
    if (!bits.one(this.choices, 0)) return bits.tree(this.low, 8 * position, 3);
    if (!bits.one(this.choices, 1)) return 8 + bits.tree(this.middle, 8 * position, 3);
    return 16 + bits.tree(this.high, 0, 8);
  }
}

class Distances {
  constructor() {
    this.slots = even(4 * 64);
    this.special = even(115);
    this.align = even(16);
  }
  next(bits, length) {
    const slot = bits.tree(this.slots, 64 * Math.min(length, 3), 6);
    if (slot < 4) return slot;
    const number = (slot >> 1) - 1;
    const first = (2 + (slot & 1)) * 2 ** number;
    if (slot < 14) return first + bits.reversed(this.special, first - slot, number);
    return first + 16 * bits.direct(number - 4) + bits.reversed(this.align, 0, 4);
  }
}

// What has been written, which literals and matches refer to.
class Written {
  constructor() {
    this.bytes = new Uint8Array(2 ** 18);
    this.size = 0;
  }
  back(distance) { return this.size > distance ? this.bytes[this.size - distance - 1] : 0; }
  push(byte) {
    if (this.size === this.bytes.length) {
      const larger = new Uint8Array(2 * this.size);
      larger.set(this.bytes);
      this.bytes = larger;
    }
    this.bytes[this.size] = byte;
    this.size += 1;
  }
}

function literal(bits, probabilities, offset, written, state, recent) {
  let node = 1;
  if (state >= 7) {
    for (let match = written.back(recent); node < 256; match <<= 1) {
      const expected = (match >> 7) & 1;
      const found = bits.one(probabilities, offset + 256 * (1 + expected) + node);
      node = 2 * node + found;
      if (found !== expected) break;
    }
  }
  while (node < 256) node = 2 * node + bits.one(probabilities, offset + node);
  return node - 256;
}

function decompressed(bytes) {
  const [nContext, nLow, nPosition] = [bytes[0] % 9, Math.floor(bytes[0] / 9) % 5, Math.floor(bytes[0] / 45)];
  const bits = new Bits(bytes, 13);
  const written = new Written();
  const literals = even(LITERAL_SIZE * 2 ** (nContext + nLow));
  const [isMatch, isLongRepeat] = [even(N_STATES * N_POSITIONS), even(N_STATES * N_POSITIONS)];
  const [isRepeat, isLater, isThird, isFourth] = [even(N_STATES), even(N_STATES), even(N_STATES), even(N_STATES)];
  const [lengths, repeatLengths, distances] = [new Lengths(), new Lengths(), new Distances()];
  const recent = [0, 0, 0, 0];
  for (let state = 0; ;) {
    const position = written.size & (2 ** nPosition - 1);
    const place = N_POSITIONS * state + position;
    let length;
    if (!bits.one(isMatch, place)) {
      const context = ((written.size & (2 ** nLow - 1)) << nContext) + (written.back(0) >> (8 - nContext));
      written.push(literal(bits, literals, LITERAL_SIZE * context, written, state, recent[0]));
      state = state < 4 ? 0 : state - (state < 10 ? 3 : 6);
      continue;
    }
    if (bits.one(isRepeat, state)) {
      if (!bits.one(isLater, state)) {
        if (!bits.one(isLongRepeat, place)) {
          written.push(written.back(recent[0]));
          state = state < 7 ? 9 : 11;
          continue;
        }
      } else {
        const which = !bits.one(isThird, state) ? 1 : !bits.one(isFourth, state) ? 2 : 3;
        recent.unshift(...recent.splice(which, 1));
      }
      length = repeatLengths.next(bits, position);
      state = state < 7 ? 8 : 11;
    } else {
      length = lengths.next(bits, position);
      state = state < 7 ? 7 : 10;
      recent.pop();
      recent.unshift(distances.next(bits, length));
      if (recent[0] === 2 ** 32 - 1) return written.bytes.subarray(0, written.size);
    }
    for (let left = length + FIRST_LENGTH; left; left -= 1) written.push(written.back(recent[0]));
  }
}

const unpack = (packed) => JSON.parse(new TextDecoder().decode(decompressed(bytesOf(packed))));
