/** Learns facts about all hosts: which answer, with which software, and how busy and full they are. */
import type { BackendReading, MeasuredFacts } from '../../ports/host-facts.ts';
import { recordHostFacts, type SeenRow } from '../../store/inventory/host-facts.ts';
import type { Service } from '../context.ts';

/** Asks all hosts now, and keeps the latest facts of each. */
export async function refreshHostFacts({ db, fleet }: Pick<Service, 'db' | 'fleet'>): Promise<void> {
  const readings = await fleet.readFacts();
  if (readings.length === 0) return;
  const asked = readings.map(({ backend }) => backend);
  await recordHostFacts(db, { asked, seen: readings.flatMap(toRows) });
}

function toRows({ backend, answer }: BackendReading): SeenRow[] {
  if (answer === null) return [];
  const { protocol, latencyMs, facts } = answer;
  return (facts ?? [null]).map((each) => ({
    backend,
    host: each?.host ?? null,
    protocol,
    latency_ms: latencyMs,
    ...toColumns(each),
  }));
}

function toColumns(
  facts: MeasuredFacts | null,
): Omit<SeenRow, 'backend' | 'host' | 'protocol' | 'latency_ms'> {
  return {
    version: facts?.version ?? null,
    skew_ms: facts?.skewMs ?? null,
    uptime_s: facts?.uptimeS ?? null,
    cores: facts?.cores ?? null,
    load: facts?.load ?? null,
    ram_mb: facts?.ramMb ?? null,
    ram_available_mb: facts?.ramAvailableMb ?? null,
    disk_gb: facts?.diskGb ?? null,
    disk_free_gb: facts?.diskFreeGb ?? null,
  };
}
