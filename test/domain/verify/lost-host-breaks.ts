/** SQL that violates each invariant of lost hosts, for verify.test.ts. */
export const LOST_HOST_BREAKS: Record<string, readonly string[]> = {
  'lost hosts are out of use': [`update hosts set draining = false`],
  'servers of lost hosts are settled': [
    `update servers set host_id = (select id from hosts where lost_at is not null) where status = 'running'`,
  ],
  'held addresses wait for a lost host': [
    `update ipv4_addresses set server_id = gen_random_uuid() where held_by is not null`,
    `update ipv6_prefixes set free_from = now() where held_by is not null`,
    `update hosts set fenced_at = now() where lost_at is not null`,
  ],
  'reserved addresses have a reason': [
    `update ipv4_addresses set held_by = null where held_by is not null`,
    `update ipv6_prefixes set held_by = null where held_by is not null`,
  ],
  'lost volumes use no disk': [`update volumes set disk_gb = size_gb where lost_at is not null`],
  'lost snapshots have failed': [`update snapshots set status = 'ready' where lost_at is not null`],
  'copies have their snapshots': [
    `update snapshots set status = 'error' where id in (select snapshot_id from snapshot_copies)`,
  ],
};
