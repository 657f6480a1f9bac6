/** Invariants of the hash chain over the audit log. */
import { LIMITS } from '../../spec/limits.ts';
import { AUDIT_ROW_HASH } from '../../store/audit-chain.ts';
import { type Invariant, shownIdSql } from './invariant.ts';

const LINK = `'link ' || l.no || ': ' || ${shownIdSql('audit_', 'l.event_id')}`;
/** An hour later than the retention: the clocks of the service and of the database may differ. */
const RETENTION_END = `(select clock_timestamp() + clock_offset_ms * interval '1 ms' + interval '1 hour'
  - interval '${LIMITS.auditRetentionDays} days' from service)`;
/** A lower bound of the ids at that time, as in kernel/ids.ts. */
const FIRST_KEPT_ID = `(lpad(to_hex(floor(extract(epoch from ${RETENTION_END}) * 1000)::bigint), 12, '0')
  || repeat('0', 20))::uuid`;

export const AUDIT_INVARIANTS: readonly Invariant[] = [
  {
    name: 'audit links form a chain',
    description: 'each link follows the one before it; the first broken one is shown',
    source: 'audit_links',
    violations: `select ${LINK} from (
        select no, event_id, row_hash, hash, lag(no) over by_no as last_no, lag(hash) over by_no as last_hash
          from audit_links window by_no as (order by no)) l, audit_anchor a
      where l.no <> coalesce(l.last_no, a.no) + 1
         or l.hash <> sha256(coalesce(l.last_hash, a.hash) || l.row_hash)
      order by l.no limit 1`,
  },
  {
    name: 'audit rows match their links',
    description: 'no audit row was changed after it was linked',
    source: 'audit_events',
    violations: `select ${LINK} from audit_links l join audit_events e on e.id = l.event_id
      where l.row_hash <> ${AUDIT_ROW_HASH} order by l.no limit 100`,
  },
  {
    name: 'linked audit rows exist',
    description: 'no audit row was deleted before its retention ended',
    source: 'audit_links',
    violations: `select ${LINK} from audit_links l
      where l.event_id >= ${FIRST_KEPT_ID}
        and not exists (select from audit_events e where e.id = l.event_id) order by l.no limit 100`,
  },
];
