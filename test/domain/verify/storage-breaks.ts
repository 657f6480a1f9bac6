/** SQL that violates each invariant of volumes, snapshots, and backups, like a bug might. */
export const STORAGE_BREAKS: Record<string, readonly string[]> = {
  'volumes are attached to existing servers': [
    `update volumes set server_id = gen_random_uuid() where server_id is not null`,
    `update servers set customer_id = gen_random_uuid()`,
    `update servers set status = 'destroying'`,
  ],
  'volumes lie in their region': [`update volumes set region_id = 'buh'`, `update volumes set disk_gb = 0`],
  'volume changes have a task': [
    `update volumes set deleted_at = now()`,
    `insert into volume_changes (volume_id, event, server_id, device)
       select id, 'volume.attached', server_id, device from volumes where server_id is not null`,
  ],
  'snapshots have a task': [
    `delete from tasks where kind = 'snapshot'`,
    `update snapshots set status = 'creating' where expires_at is null`,
  ],
  'backups have a task': [
    `delete from tasks where kind = 'backup'`,
    `update backup_policies set enabled = false, next_at = null, snapshot_id = gen_random_uuid(); ` +
      `delete from tasks where kind = 'backup'`,
  ],
  'backups are priced': [
    `update backup_policies set enabled = false, next_at = null`,
    `update servers set backup_percent = null, backup_cents_cycle = 0`,
    `update servers set backup_percent = 20, backup_cents_cycle = 0`,
  ],
  'only ready snapshots have a size': [`update snapshots set status = 'error'`],
};
