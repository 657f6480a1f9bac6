/** Returns SSH keys in the REST shape. */
import { formatId } from '../../kernel/ids.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import type { ListedSshKey, SshKey } from '../../spec/schemas/ssh-key.ts';
import type { ListedSshKeyRow, SshKeyRow } from '../../store/ssh-keys.ts';

export function listedSshKeyObject(row: ListedSshKeyRow): ListedSshKey {
  return {
    id: formatId('sshKey', row.id),
    object: 'ssh_key',
    name: row.name,
    type: row.type,
    fingerprint: row.fingerprint,
    created_at: formatRfc3339(row.created_at),
  };
}

export function sshKeyObject(row: SshKeyRow): SshKey {
  return { ...listedSshKeyObject(row), public_key: row.public_key };
}
