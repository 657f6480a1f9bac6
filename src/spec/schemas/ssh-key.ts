/** SSH key (SPEC "SSH key (`k_`)"). */
import { type Static, Type } from 'typebox';
import { LIMITS } from '../limits.ts';
import { DisplayName, Id, oneOf, Time } from './parts.ts';

/** Accepted SSH key types (SPEC "SSH key (`k_`)"). */
export const SSH_KEY_TYPES = [
  'ssh-ed25519',
  'ssh-rsa',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
] as const;

const fields = {
  id: Id('k_'),
  object: Type.Literal('ssh_key'),
  name: Type.String(),
  type: oneOf(SSH_KEY_TYPES),
  fingerprint: Type.String({ examples: ['SHA256:uB4zBd9YfqL5Yh1L5kpSaw2x0Gm1cVtKZ0mJk7PqWfs'] }),
  created_at: Time,
};

/** A key in a list. */
export const ListedSshKey = Type.Object(fields);
export type ListedSshKey = Static<typeof ListedSshKey>;

export const SshKey = Type.Object({
  ...fields,
  public_key: Type.String({ description: 'OpenSSH format. Lists omit it.' }),
});
export type SshKey = Static<typeof SshKey>;

export const SshKeyBody = Type.Object(
  {
    name: DisplayName,
    public_key: Type.String({
      maxLength: LIMITS.sshPublicKeyMaxChars,
      description: `The line of a .pub file: ${SSH_KEY_TYPES.join(', ')}; RSA of at least 2048 bits.`,
    }),
  },
  { additionalProperties: false },
);
export type SshKeyBody = Static<typeof SshKeyBody>;

export type SshKeyType = (typeof SSH_KEY_TYPES)[number];

export const RSA_MIN_BITS = 2_048;
export const RSA_MAX_BITS = 16_384;
