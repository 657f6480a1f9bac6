/**
 * A slow, literal Keccak-256: a second implementation to verify the library's addresses with. Nothing else
 * uses it.
 */
const LANES = 25;
const LANE_BYTES = 8;
const LANE_BITS = 64;
const ROUNDS = 24;
/** 1600 bits of state minus twice the digest's 256 bits. */
const RATE_BYTES = 136;
const DIGEST_LANES = 4;

export function keccak256Reference(message: Uint8Array): Uint8Array {
  const padded = new Uint8Array(RATE_BYTES * (Math.floor(message.length / RATE_BYTES) + 1));
  padded.set(message);
  const view = new DataView(padded.buffer);
  view.setUint8(message.length, 0x01);
  view.setUint8(padded.length - 1, view.getUint8(padded.length - 1) | 0x80);
  let state = new BigUint64Array(LANES);
  for (let at = 0; at < padded.length; at += RATE_BYTES) {
    state = state.map((lane, i) =>
      i < RATE_BYTES / LANE_BYTES ? lane ^ view.getBigUint64(at + i * LANE_BYTES, true) : lane,
    );
    for (let round = 0; round < ROUNDS; round++) state = permuteRound(state, round);
  }
  const digest = new DataView(new ArrayBuffer(DIGEST_LANES * LANE_BYTES));
  for (const [i, lane] of state.subarray(0, DIGEST_LANES).entries()) {
    digest.setBigUint64(i * LANE_BYTES, lane, true);
  }
  return new Uint8Array(digest.buffer);
}

/** Lane (x, y) of a state; both wrap around. */
function lane(state: BigUint64Array, x: number, y: number): bigint {
  return state[(x % 5) + 5 * (y % 5)] ?? 0n;
}

function permuteRound(state: BigUint64Array, round: number): BigUint64Array<ArrayBuffer> {
  const columns = new BigUint64Array(5).map(
    (_, x) =>
      lane(state, x, 0) ^ lane(state, x, 1) ^ lane(state, x, 2) ^ lane(state, x, 3) ^ lane(state, x, 4),
  );
  const mixed = state.map(
    (own, i) => own ^ lane(columns, i + 4, 0) ^ rotateLeft(lane(columns, (i % 5) + 1, 0), 1),
  );
  const moved = new BigUint64Array(LANES);
  for (const { from, to, turn } of LANE_MOVES) moved[to] = rotateLeft(mixed[from] ?? 0n, turn);
  const chi = moved.map((own, i) => {
    const y = Math.floor(i / 5);
    return own ^ (~lane(moved, (i % 5) + 1, y) & lane(moved, (i % 5) + 2, y));
  });
  chi[0] = (chi[0] ?? 0n) ^ (ROUND_CONSTANTS[round] ?? 0n);
  return chi;
}

function rotateLeft(value: bigint, bits: number): bigint {
  return BigInt.asUintN(LANE_BITS, (value << BigInt(bits)) | (value >> BigInt(LANE_BITS - bits)));
}

/** Where each lane moves in a round, and by how many bits it rotates. */
const LANE_MOVES = ((): readonly { readonly from: number; readonly to: number; readonly turn: number }[] => {
  const moves = [{ from: 0, to: 0, turn: 0 }];
  let [x, y] = [1, 0];
  for (let step = 1; step < LANES; step++) {
    const [toX, toY] = [y, (2 * x + 3 * y) % 5];
    moves.push({ from: x + 5 * y, to: toX + 5 * toY, turn: ((step * (step + 1)) / 2) % LANE_BITS });
    [x, y] = [toX, toY];
  }
  return moves;
})();

/** The constant of each round: bits of a shift register at positions 2^j − 1. */
const ROUND_CONSTANTS = ((): readonly bigint[] => {
  let register = 1;
  return Array.from({ length: ROUNDS }, () => {
    let constant = 0n;
    for (let j = 0; j <= 6; j++) {
      if (register & 1) constant |= 1n << BigInt(2 ** j - 1);
      register = (register << 1) ^ (register & 0x80 ? 0x171 : 0);
    }
    return constant;
  });
})();
