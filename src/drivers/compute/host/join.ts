/**
 * How a host joins. The operator passes two values from the control plane to the host: the fingerprint of its
 * authority, and a one-time code. The control plane connects; the host sees that this authority issued its
 * certificate, and answers with a request for its own. The control plane sees the host for the first time,
 * behind a certificate that the host made for this. The host proves with the code that both the certificate
 * and the request are its own, so a stranger in between can present neither. The code itself is never sent.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { fingerprintOf } from '../../../kernel/certificates.ts';
import { MINUTE_MS } from '../../../kernel/time.ts';
import type { ControlPlaneCredentials } from '../../../ports/backends.ts';
import type { HostMembership } from './membership.ts';
import { findAuthority, type PeerCertificate, type PeerProblem } from './mutual-tls.ts';
import { ask, openSession } from './session.ts';
import { CALL_MAX_BYTES, PEM_MAX_CHARACTERS } from './wire.ts';

export const CODE_VALID_MS = 15 * MINUTE_MS;
const CODE_BYTES = 20;
const ATTEMPT_TIMEOUT_MS = 5_000;

const Digest = Type.String({ pattern: '^[0-9a-f]{64}$' });
export const JoinBody = Compile(Type.Object({ nonce: Digest }));
const JoinAnswer = Compile(
  Type.Object({ request: Type.String({ maxLength: PEM_MAX_CHARACTERS }), proof: Digest }),
);

export interface JoinProof {
  readonly request: string;
  readonly proof: string;
}

export function createCode(): string {
  return randomBytes(CODE_BYTES).toString('hex');
}

interface ProvenParts {
  readonly nonce: string;
  /** Fingerprint of the certificate that the host presents while it joins. */
  readonly host: string;
  /** Fingerprint of the authority. */
  readonly controlPlane: string;
  readonly request: string;
}

function proofOf(code: string, { nonce, host, controlPlane, request }: ProvenParts): Buffer {
  const text = JSON.stringify(['skerry join 2', nonce, host, controlPlane, request]);
  return createHmac('sha256', code).update(text).digest();
}

/** The host's side: answers one proof within the code's time. */
export class JoinOffer {
  #code: string | null;
  readonly #controlPlane: string;
  readonly #endsAt: number;
  #authority: string | null = null;
  readonly #joined = Promise.withResolvers<void>();

  constructor(code: string, controlPlane: string, validMs = CODE_VALID_MS) {
    this.#code = code;
    this.#controlPlane = controlPlane;
    this.#endsAt = performance.now() + validMs;
  }

  /** Resolves when the host has its certificate. */
  get joined(): Promise<void> {
    return this.#joined.promise;
  }

  /** Returns why the peer is not the control plane with the fingerprint, or null. */
  checkPeer(peer: PeerCertificate): PeerProblem | null {
    const authority = findAuthority(peer, this.#controlPlane);
    if (authority === null) return 'other authority';
    this.#authority = authority;
    return null;
  }

  /** Returns null if the code was used or is too old. */
  async prove(nonce: string, membership: HostMembership): Promise<JoinProof | null> {
    const code = this.#code;
    this.#code = null;
    if (code === null || this.#authority === null || performance.now() > this.#endsAt) return null;
    const request = await membership.request(this.#authority);
    const host = fingerprintOf(membership.identity.certificate);
    const proof = proofOf(code, { nonce, host, controlPlane: this.#controlPlane, request });
    return { request, proof: proof.toString('hex') };
  }

  /** Installs the certificate. From then on the host is a member. */
  async finish(certificate: string, membership: HostMembership): Promise<void> {
    await membership.install(certificate);
    this.#joined.resolve();
  }
}

/**
 * The control plane's side: gives the host at the address the certificate that `issue` returns for its
 * request. Returns null if no host with that code answers there.
 */
export async function askToJoin(
  address: string,
  { credentials, code }: { readonly credentials: ControlPlaneCredentials; readonly code: string },
  issue: (request: string) => Promise<string>,
): Promise<string | null> {
  const controlPlane = fingerprintOf(credentials.authority);
  let host = '';
  const session = await openSession(address, credentials.issued, (peer) => {
    host = peer === undefined ? '' : fingerprintOf(peer);
  });
  const limits = { timeoutMs: ATTEMPT_TIMEOUT_MS, maxBytes: CALL_MAX_BYTES };
  try {
    const nonce = randomBytes(32).toString('hex');
    const answer = await ask(session, '/v1/join', { nonce }, limits);
    if (!JoinAnswer.Check(answer)) return null;
    const { request, proof } = answer as JoinProof;
    const expected = proofOf(code, { nonce, host, controlPlane, request });
    if (!timingSafeEqual(Buffer.from(proof, 'hex'), expected)) return null;
    const certificate = await issue(request);
    await ask(session, '/v1/join/certificate', { certificate }, limits);
    return certificate;
  } finally {
    session.destroy();
  }
}
