/**
 * The host's side of certificates: which one it presents, whom it accepts, and how it gets the next one. The
 * control plane asks for a request, and installs the certificate that it issues. Until then a new key exists
 * only in memory, so a host that stops in between is simply asked again.
 */
import { X509Certificate } from 'node:crypto';
import {
  createRequest,
  hostSubject,
  isCertificateOf,
  type TlsIdentity,
} from '../../../kernel/certificates.ts';
import { ComputeError } from '../../../ports/compute.ts';
import {
  controlPlaneProblem,
  issuedProblem,
  type KnownControlPlane,
  type PeerCertificate,
  type PeerProblem,
} from './mutual-tls.ts';

/** The part that a host keeps on its disk. */
export interface Membership {
  readonly name: string;
  readonly identity: TlsIdentity;
  readonly controlPlane: KnownControlPlane;
}

export class HostMembership {
  #current: Membership;
  readonly #save: (next: Membership) => Promise<void>;
  #pending: { readonly key: string; readonly authority: string } | null = null;
  #onChange: (identity: TlsIdentity) => void = () => undefined;

  /** `save` replaces it on the disk at once, or not at all. */
  constructor(current: Membership, save: (next: Membership) => Promise<void>) {
    this.#current = current;
    this.#save = save;
  }

  get name(): string {
    return this.#current.name;
  }

  get identity(): TlsIdentity {
    return this.#current.identity;
  }

  /** The listener presents the new identity on new connections; others go on. */
  onChange(listener: (identity: TlsIdentity) => void): void {
    this.#onChange = listener;
  }

  /** Returns why the peer is not the control plane, or null. */
  async checkPeer(peer: PeerCertificate): Promise<PeerProblem | null> {
    const { authority, former } = this.#current.controlPlane;
    const problem = controlPlaneProblem(peer, { authority, former });
    const isIssued = former !== null && controlPlaneProblem(peer, { authority, former: null }) === null;
    // It has recorded our new certificate, and presents its former one never again.
    if (isIssued) await this.#replace({ ...this.#current, controlPlane: { authority, former: null } });
    return problem;
  }

  /** Makes the next key, and a request for its certificate. */
  async request(authority: string): Promise<string> {
    const { authority: known } = this.#current.controlPlane;
    if (
      known !== null &&
      new X509Certificate(authority).fingerprint256 !== new X509Certificate(known).fingerprint256
    ) {
      throw new ComputeError('refused', 'the host knows another authority: it must join again');
    }
    const { key, request } = await createRequest(this.name);
    this.#pending = { key, authority: known ?? authority };
    return request;
  }

  /** Presents the certificate from now on. */
  async install(certificate: string): Promise<void> {
    const pending = this.#pending;
    if (pending === null) throw new ComputeError('transient', 'the host has requested no certificate');
    const { authority } = pending;
    requireUsable(certificate, pending);
    const { former } = this.#current.controlPlane;
    await this.#replace({
      name: this.name,
      identity: { certificate, key: pending.key },
      controlPlane: { authority, former },
    });
    this.#pending = null;
  }

  async #replace(next: Membership): Promise<void> {
    await this.#save(next);
    const isOtherIdentity = next.identity.certificate !== this.#current.identity.certificate;
    this.#current = next;
    if (isOtherIdentity) this.#onChange(next.identity);
  }
}

/** A certificate that does not fit would shut the control plane out. */
function requireUsable(
  text: string,
  { key, authority }: { readonly key: string; readonly authority: string },
): void {
  const certificate = new X509Certificate(text);
  const [, identity = ''] =
    /^URI:urn:skerry:host:([0-9a-f-]{36})$/.exec(certificate.subjectAltName ?? '') ?? [];
  const problem = issuedProblem(certificate, new X509Certificate(authority), hostSubject(identity));
  if (problem === null && isCertificateOf(certificate, key)) return;
  throw new ComputeError('refused', `the certificate does not fit: ${problem ?? 'other key'}`);
}
