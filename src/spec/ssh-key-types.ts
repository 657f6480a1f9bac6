/** Accepted SSH key types (SPEC "SSH key (`k_`)"). */
export const SSH_KEY_TYPES = [
  'ssh-ed25519',
  'ssh-rsa',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
] as const;
export type SshKeyType = (typeof SSH_KEY_TYPES)[number];

export const RSA_MIN_BITS = 2_048;
export const RSA_MAX_BITS = 16_384;
