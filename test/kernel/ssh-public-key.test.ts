import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createECDH, createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import fc from 'fast-check';
import { parseSshPublicKey, SshKeyError } from '../../src/kernel/ssh-public-key.ts';
import { PROPERTY_RUNS } from '../support/runs.ts';

const field = (bytes: Uint8Array | string) => {
  const body = Buffer.from(bytes as string, 'latin1');
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length);
  return Buffer.concat([length, body]);
};
const line = (type: string, ...parts: (Uint8Array | string)[]) =>
  `${type} ${Buffer.concat([field(type), ...parts.map(field)]).toString('base64')}`;

const ED25519 = line('ssh-ed25519', Buffer.alloc(32, 7));

/** Returns an odd modulus of `bits` bits as an mpint. */
function modulus(bits: number): Buffer {
  const bytes = randomBytes(Math.ceil(bits / 8));
  const top = (bits - 1) % 8;
  bytes[0] = ((bytes[0] ?? 0) & (2 ** (top + 1) - 1)) | (1 << top);
  const last = bytes.length - 1;
  bytes[last] = (bytes[last] ?? 0) | 1;
  return top === 7 ? Buffer.concat([Buffer.alloc(1), bytes]) : bytes;
}
const rsa = (bits: number, exponent: readonly number[] = [1, 0, 1]) =>
  line('ssh-rsa', Buffer.from(exponent), modulus(bits));

function point(name: string): Buffer {
  const ecdh = createECDH(name);
  return ecdh.generateKeys();
}
const CURVES = [
  ['nistp256', 'prime256v1'],
  ['nistp384', 'secp384r1'],
  ['nistp521', 'secp521r1'],
] as const;

function captureError(text: string): SshKeyError {
  try {
    parseSshPublicKey(text);
  } catch (error) {
    assert.ok(error instanceof SshKeyError, String(error));
    return error;
  }
  return assert.fail('the key was accepted');
}

describe('a public key', () => {
  it('a public key of each type is accepted, with its fingerprint', () => {
    const ecdsa = CURVES.map(([curve, name]) => line(`ecdsa-sha2-${curve}`, curve, point(name)));
    for (const text of [ED25519, rsa(2048), rsa(3072), rsa(16_384), rsa(2048, [3]), ...ecdsa]) {
      const [type = '', encoded = ''] = text.split(' ');
      const digest = createHash('sha256').update(Buffer.from(encoded, 'base64')).digest('base64');
      const fingerprint = `SHA256:${digest.replaceAll('=', '')}`;
      assert.deepEqual(parseSshPublicKey(text), { type, fingerprint, text });
    }
  });

  it('a public key is stored as one line with its comment and normalized spaces', () => {
    const { text } = parseSshPublicKey(ED25519);
    assert.equal(
      parseSshPublicKey(`  ${ED25519.replace(' ', ' \t')}  me@my laptop, ünïcode \r\n`).text,
      `${text} me@my laptop, ünïcode`,
    );
    assert.equal(parseSshPublicKey(`${text}   `).text, text);
  });

  it('a text that is not a public key is rejected with a remedy', () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const cases: [text: string, message: RegExp, issue?: string][] = [
      ['', /must start with its type/, 'invalid_value'],
      ['ssh-ed25519', /Base64/],
      [pem, /private key/],
      ['-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaA==\n-----END OPENSSH PRIVATE KEY-----', /private key/],
      ['PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none', /private key/],
      [publicKey.export({ type: 'spki', format: 'pem' }).toString(), /another format/],
      ['---- BEGIN SSH2 PUBLIC KEY ----\nAAAA\n---- END SSH2 PUBLIC KEY ----', /another format/],
      [`${ED25519}\n${ED25519}`, /one line/i],
      [`${ED25519} a\rb`, /one line/i],
      [`restrict,command="ls" ${ED25519}`, /Options/],
      [`ssh-ed25519-cert-v01@openssh.com ${ED25519.split(' ')[1]}`, /Certificates/, 'invalid_value'],
      [line('ssh-dss', 'x'), /must start with its type/, 'invalid_value'],
      [line('sk-ssh-ed25519@openssh.com', 'x'), /must start with its type/, 'invalid_value'],
      [ED25519.toUpperCase(), /must start with its type/, 'invalid_value'],
      [`${ED25519} \u202ecomment`, /comment/],
    ];
    for (const [text, message, issue = 'invalid_format'] of cases) {
      const refused = captureError(text);
      assert.match(refused.message, message);
      assert.equal(refused.issue, issue, refused.message);
    }
  });

  it('a public key whose data does not match its type is rejected', () => {
    const [, encoded = ''] = ED25519.split(' ');
    const blob = Buffer.from(encoded, 'base64');
    const off = Buffer.from(point('prime256v1'));
    off[40] = (off[40] ?? 0) ^ 1;
    const bad = [
      `ssh-rsa ${encoded}`,
      `ssh-ed25519 ${encoded.replace(/=*$/, '')}x`,
      `ssh-ed25519 ${encoded.slice(0, -4)}`,
      `ssh-ed25519 ${encoded.replaceAll('A', '-')}`,
      `ssh-ed25519 ${Buffer.concat([blob, Buffer.alloc(1)]).toString('base64')}`,
      line('ssh-ed25519', Buffer.alloc(31)),
      line('ssh-ed25519', Buffer.alloc(33)),
      line('ssh-rsa', Buffer.from([1, 0, 1])),
      line('ssh-rsa', modulus(2048), Buffer.from([1, 0, 1])),
      line('ssh-rsa', Buffer.from([0x81]), modulus(2048)),
      line('ssh-rsa', Buffer.from([0, 3]), modulus(2048)),
      line('ssh-rsa', Buffer.from([1]), modulus(2048)),
      line('ssh-rsa', Buffer.from([4]), modulus(2048)),
      line('ssh-rsa', Buffer.alloc(0), modulus(2048)),
      line('ssh-rsa', Buffer.from([0]), modulus(2048)),
      line('ecdsa-sha2-nistp256', 'nistp384', point('prime256v1')),
      line('ecdsa-sha2-nistp256', 'nistp256', point('secp384r1')),
      line('ecdsa-sha2-nistp256', 'nistp256', off),
      line('ecdsa-sha2-nistp256', 'nistp256', Buffer.concat([Buffer.from([2]), off.subarray(1)])),
      line('ecdsa-sha2-nistp256', 'nistp256', Buffer.from([0])),
    ];
    for (const text of bad) captureError(text);
  });

  it('an RSA key must have 2048 to 16384 bits', () => {
    for (const bits of [512, 1024, 2047, 16_385]) {
      const refused = captureError(rsa(bits));
      assert.equal(refused.issue, 'invalid_value');
      assert.deepEqual(refused.extras, { min: 2048, max: 16_384 });
      assert.match(refused.message, new RegExp(`has ${bits}\\.`));
    }
  });

  it('an error never repeats the key, for any bytes', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 90 }),
        fc.constantFrom(...['ssh-ed25519', 'ssh-rsa', 'ecdsa-sha2-nistp521']),
        (bytes, type) => {
          const encoded = Buffer.from(bytes).toString('base64');
          const refused = captureError(`${type} ${encoded}`);
          assert.ok(encoded.length < 8 || !refused.message.includes(encoded));
        },
      ),
      { numRuns: PROPERTY_RUNS * 10 },
    );
  });
});

describe('ssh-keygen', () => {
  const isInstalled = spawnSync('ssh-keygen', ['-?']).error === undefined;
  const folder = mkdtempSync(join(tmpdir(), 'skerry-keys-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('a key created by ssh-keygen has the fingerprint that ssh-keygen prints', {
    skip: isInstalled ? false : 'ssh-keygen is not installed',
  }, () => {
    const kinds = [['ed25519'], ['rsa', '2048'], ['ecdsa', '256'], ['ecdsa', '384'], ['ecdsa', '521']];
    for (const [n, [type = '', bits]] of kinds.entries()) {
      const file = join(folder, `key${n}`);
      const size = bits ? ['-b', bits] : [];
      execFileSync('ssh-keygen', ['-q', '-t', type, ...size, '-N', '', '-C', 'me@here', '-f', file]);
      const printed = execFileSync('ssh-keygen', ['-lf', `${file}.pub`], { encoding: 'utf8' });
      const written = readFileSync(`${file}.pub`, 'utf8');
      const key = parseSshPublicKey(written);
      assert.equal(key.fingerprint, printed.split(' ')[1]);
      assert.equal(`${key.text}\n`, written);
      assert.match(captureError(readFileSync(file, 'utf8')).message, /private key/);
    }
  });
});
