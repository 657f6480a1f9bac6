/** Findings about the settings of the database, for `doctor`. */

import type { Sql } from '../../kernel/sql.ts';
import type { HostFinding } from '../../ports/compute.ts';
import { readClock } from '../../store/service/service.ts';
import { readDatabaseSettings } from '../../store/service/statements.ts';
import type { Service } from '../context.ts';
import { describeSkew, SKEW_MAX_MS } from './hosts.ts';
import { partitionFindings } from './partitions.ts';
import { replicaFindings } from './replica.ts';

/** Reads the settings of the connection that requests use, and of the server. */
export async function databaseFindings(
  service: Pick<Service, 'db' | 'clock' | 'replica'>,
): Promise<HostFinding[]> {
  const clock = await clockFinding(service.db);
  const found = await readDatabaseSettings(service.db);
  const finding = (level: HostFinding['level'], message: string) => ({ level, subject: 'database', message });
  const findings = [
    finding('ok', 'connected'),
    finding(clock.level, clock.message),
    found.has_statistics
      ? finding('ok', 'pg_stat_statements is there; see skerryd database statements')
      : finding('note', 'no extension pg_stat_statements, so slow statements cannot be found by their total'),
    found.slow_ms < 0
      ? finding('note', 'slow statements are not logged; set log_min_duration_statement')
      : finding('ok', `statements that take longer than ${found.slow_ms} ms are logged`),
  ];
  if (found.slow_ms >= 0 && found.logged_bytes !== 0)
    findings.push(
      finding(
        'warn',
        'values of customers are logged with slow statements; set log_parameter_max_length = 0',
      ),
    );
  const timeouts = {
    statement_timeout: found.statement_timeout_ms,
    lock_timeout: found.lock_timeout_ms,
    idle_in_transaction_session_timeout: found.idle_timeout_ms,
  };
  for (const [name, ms] of Object.entries(timeouts))
    if (ms === 0) findings.push(finding('warn', `no ${name}; behind a pooler, set it for the role`));
  return [...findings, ...(await partitionFindings(service)), ...replicaFindings(service)];
}

/** The service uses the time of the database while this machine's is wrong (`kernel/clock.ts`). */
async function clockFinding(db: Sql): Promise<Pick<HostFinding, 'level' | 'message'>> {
  const sentMs = Date.now();
  const { time } = await readClock(db);
  const receivedMs = Date.now();
  const aheadMs = (sentMs + receivedMs) / 2 - time.getTime();
  const message = `${describeSkew(aheadMs)} on this machine, compared with the database`;
  if (Math.abs(aheadMs) - (receivedMs - sentMs) / 2 <= SKEW_MAX_MS) return { level: 'ok', message };
  return { level: 'warn', message: `${message}: synchronize both clocks, for example with chrony` };
}
