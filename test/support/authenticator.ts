/**
 * A passkey authenticator in memory: ES256, attestation `none`, as a browser's `toJSON()` returns it. Each
 * call can lie about what a browser and an authenticator report.
 */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

export interface Answer {
  readonly id: string;
  readonly rawId: string;
  readonly type: string;
  readonly clientExtensionResults: object;
  readonly response: Record<string, unknown>;
}

export interface Lies {
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  readonly type?: string;
  readonly userVerified?: boolean;
  readonly counter?: number;
  readonly userHandle?: string;
}

interface Options {
  readonly challenge: string;
  readonly user?: { readonly id: string };
}

const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest();
const [USER_PRESENT, USER_VERIFIED, HAS_CREDENTIAL] = [0x01, 0x04, 0x40];

export class Authenticator {
  readonly #origin: string;
  readonly #rpId: string;
  readonly #keys: { readonly publicKey: KeyObject; readonly privateKey: KeyObject };
  readonly #id = randomBytes(32);
  #userHandle = '';
  #counter = 0;

  constructor(origin: string) {
    this.#origin = origin;
    this.#rpId = new URL(origin).hostname;
    this.#keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  }

  get id(): string {
    return this.#id.toString('base64url');
  }

  /** `navigator.credentials.create`. */
  create(options: unknown, lies: Lies = {}): string {
    const { user } = options as Options;
    this.#userHandle = user?.id ?? '';
    const length = Buffer.alloc(2);
    length.writeUInt16BE(this.#id.length);
    const credential = Buffer.concat([Buffer.alloc(16), length, this.#id, this.#coseKey()]);
    const authData = Buffer.concat([this.#authData(lies, HAS_CREDENTIAL), credential]);
    const head = Buffer.from([0xa3, ...cborText('fmt'), ...cborText('none'), ...cborText('attStmt'), 0xa0]);
    const size = Buffer.from([...cborText('authData'), 0x59, authData.length >> 8, authData.length & 0xff]);
    return this.#answer({
      clientDataJSON: this.#clientData(options, 'webauthn.create', lies).toString('base64url'),
      attestationObject: Buffer.concat([head, size, authData]).toString('base64url'),
      transports: ['internal'],
    });
  }

  /** `navigator.credentials.get`. Each call advances the counter. */
  get(options: unknown, lies: Lies = {}): string {
    this.#counter += 1;
    const authenticatorData = this.#authData(lies, 0);
    const clientData = this.#clientData(options, 'webauthn.get', lies);
    const signature = sign(
      'sha256',
      Buffer.concat([authenticatorData, sha256(clientData)]),
      this.#keys.privateKey,
    );
    return this.#answer({
      clientDataJSON: clientData.toString('base64url'),
      authenticatorData: authenticatorData.toString('base64url'),
      signature: signature.toString('base64url'),
      userHandle: lies.userHandle ?? this.#userHandle,
    });
  }

  #answer(response: Record<string, unknown>): string {
    const { id } = this;
    const answer: Answer = { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response };
    return JSON.stringify(answer);
  }

  #clientData(options: unknown, type: string, lies: Lies): Buffer {
    const { challenge } = options as Options;
    const told = { type, challenge, origin: this.#origin, crossOrigin: false };
    const { origin, type: otherType, challenge: otherChallenge } = lies;
    return Buffer.from(
      JSON.stringify({
        ...told,
        ...(origin !== undefined && { origin }),
        ...(otherType !== undefined && { type: otherType }),
        ...(otherChallenge !== undefined && { challenge: otherChallenge }),
      }),
    );
  }

  #authData({ rpId = this.#rpId, userVerified = true, counter = this.#counter }: Lies, more: number): Buffer {
    const flags = USER_PRESENT | (userVerified ? USER_VERIFIED : 0) | more;
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    return Buffer.concat([sha256(rpId), Buffer.from([flags]), count]);
  }

  /** `{1: 2, 3: -7, -1: 1, -2: x, -3: y}`. */
  #coseKey(): Buffer {
    const { x = '', y = '' } = this.#keys.publicKey.export({ format: 'jwk' });
    const bytes = (text: string) => [0x58, 0x20, ...Buffer.from(text, 'base64url')];
    return Buffer.from([0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, ...bytes(x), 0x22, ...bytes(y)]);
  }
}

function cborText(text: string): number[] {
  return [0x60 + text.length, ...Buffer.from(text)];
}
