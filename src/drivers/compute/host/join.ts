/**
 * How a host joins. The operator passes two values from the control plane to the host: the fingerprint of the
 * control plane, which the host pins, and a one-time code. The control plane then connects and sees the
 * host's certificate for the first time. The host proves with the code that it is its own, so a stranger in
 * between can present another one. The code itself is never sent.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { MINUTE_MS } from '../../../kernel/time.ts';
import { withTimeout } from '../../../kernel/timeout.ts';
import { openSession, post } from './connection.ts';
import { fingerprintOf, peerFingerprint, type TlsIdentity } from './pinned-tls.ts';
import { readStream } from './read-stream.ts';
import { CALL_MAX_BYTES, parseJson } from './wire.ts';

export const CODE_VALID_MS = 15 * MINUTE_MS;
const CODE_BYTES = 20;
const ATTEMPT_TIMEOUT_MS = 5_000;

const Nonce = Type.String({ pattern: '^[0-9a-f]{64}$' });
export const JoinBody = Compile(Type.Object({ nonce: Nonce }));
const JoinAnswer = Compile(Type.Object({ proof: Type.String({ pattern: '^[0-9a-f]{64}$' }) }));

export function createCode(): string {
  return randomBytes(CODE_BYTES).toString('hex');
}

interface JoinParts {
  readonly nonce: string;
  /** Fingerprints of both sides. */
  readonly host: string;
  readonly controlPlane: string;
}

function proofOf(code: string, { nonce, host, controlPlane }: JoinParts): Buffer {
  return createHmac('sha256', code).update(`skerry join ${nonce} ${host} ${controlPlane}`).digest();
}

/** The host's side: answers one proof within the code's time. */
export class JoinOffer {
  #code: string | null;
  readonly #parts: Omit<JoinParts, 'nonce'>;
  readonly #endsAt = performance.now() + CODE_VALID_MS;
  readonly #save: () => Promise<void>;
  readonly #joined = Promise.withResolvers<void>();

  /** `save` records on the host that it has joined. */
  constructor(code: string, parts: Omit<JoinParts, 'nonce'>, save: () => Promise<void>) {
    this.#code = code;
    this.#parts = parts;
    this.#save = save;
  }

  /** Resolves after the proof was given. */
  get joined(): Promise<void> {
    return this.#joined.promise;
  }

  /** Returns null if the code was used or is too old. */
  async prove(nonce: string): Promise<string | null> {
    if (this.#code === null || performance.now() > this.#endsAt) return null;
    const proof = proofOf(this.#code, { ...this.#parts, nonce });
    this.#code = null;
    // Before the control plane learns of it: a host that it knows can always start again.
    await this.#save();
    this.#joined.resolve();
    return proof.toString('hex');
  }
}

/**
 * The control plane's side: returns the fingerprint of the host at the address, or null if no host with that
 * code answers there.
 */
export async function askToJoin(
  address: string,
  { identity, code }: { readonly identity: TlsIdentity; readonly code: string },
): Promise<string | null> {
  const controlPlane = fingerprintOf(identity.certificate);
  let host = '';
  const session = await openSession(address, identity, (socket) => {
    host = peerFingerprint(socket) ?? '';
  });
  try {
    const nonce = randomBytes(32).toString('hex');
    const stream = post(session, '/v1/join');
    stream.end(JSON.stringify({ nonce }));
    const text = await withTimeout(readStream(stream, { maxBytes: CALL_MAX_BYTES }), ATTEMPT_TIMEOUT_MS);
    const answer = parseJson(text);
    if (!JoinAnswer.Check(answer)) return null;
    const proof = Buffer.from((answer as { readonly proof: string }).proof, 'hex');
    return timingSafeEqual(proof, proofOf(code, { nonce, host, controlPlane })) ? host : null;
  } finally {
    session.destroy();
  }
}
