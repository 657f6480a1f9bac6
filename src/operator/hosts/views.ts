/** `hosts list` and `hosts show`: hosts as they were last seen. */
import type { Command } from 'commander';
import { describeSkew } from '../../domain/health/hosts.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { readVersion } from '../../kernel/settings/version.ts';
import { formatSessionTime, HOUR_MS, SECOND_MS } from '../../kernel/time.ts';
import { LOCAL_BACKEND } from '../../ports/backends.ts';
import { type CountedHostRow, listCountedHosts, type SeenHostRow } from '../../store/inventory/host-facts.ts';
import type { OperatorContext } from '../context.ts';
import { addList, formatContents, formatCount } from '../format/table.ts';
import { formatReserve } from './placement.ts';

const UNKNOWN = 'unknown';
const OUTDATED = 'unknown: update Skerry on the host';

export function addHostViews(hosts: Command, context: OperatorContext): void {
  const { resources, terminal } = context;
  addList(hosts, context, {
    about: 'List hosts, their state, and their usage',
    heading: [
      ...['host', 'region', 'state', 'load', 'cpu', 'ram_mb used', 'disk_gb used', 'servers', 'tags'],
      ...['reserve', ''],
    ],
    read: async ({ db }) => (await listCountedHosts(db)).map(hostColumns),
  });
  hosts
    .command('show')
    .argument('<name>')
    .description('Show a host: its state, software, load, memory, disk, clock, and contents')
    .action(async (name: string) => {
      const { service } = await resources.service();
      terminal.facts(hostFacts(await requireSeenHost(service.db, name)));
    });
}

async function requireSeenHost(
  db: Parameters<typeof listCountedHosts>[0],
  name: string,
): Promise<CountedHostRow> {
  const [row] = await listCountedHosts(db, name);
  if (row === undefined) throw new OperatorError(`host ${name} not found: see \`skerryd hosts list\``);
  return row;
}

function hostState(row: SeenHostRow): string {
  if (row.lost_at !== null) return row.fenced_at === null ? 'lost' : 'lost, fenced';
  if (row.revoked) return 'revoked';
  const isUnseen = row.seen_at === null && row.away_since === null;
  const states = [row.away_since !== null && 'away', row.draining && 'drained', isUnseen && 'not seen'];
  return states.filter((state) => state !== false).join(', ') || 'ok';
}

function hostColumns(row: CountedHostRow): string[] {
  const notes = [
    row.backend !== null && 'another machine',
    row.version !== null && row.version !== readVersion() && `version ${row.version}`,
    row.version === null && row.seen_at !== null && 'earlier version',
  ];
  return [
    row.name,
    row.region_id,
    hostState(row),
    row.load === null || row.away_since !== null ? '' : row.load.toFixed(2),
    String(row.cpu),
    `${row.used_ram_mb}/${row.promised_ram_mb}`,
    `${row.used_disk_gb}/${row.promised_disk_gb}`,
    String(row.servers),
    row.tags.join(' '),
    formatReserve(row.reserve_ram_mb, row.reserve_disk_gb),
    notes.filter((note) => note !== false).join(', '),
  ];
}

function hostFacts(row: CountedHostRow): [string, string | null][] {
  const isRemote = row.backend !== null;
  const contents = [
    formatContents(row) || 'nothing',
    ...(row.moves > 0n ? [`${formatCount(row.moves, 'move')} to or from it`] : []),
  ];
  return [
    ['host', row.name],
    ['region', row.region_id],
    [
      'machine',
      isRemote ? `backend ${row.backend}, ${row.address ?? ''}` : `${LOCAL_BACKEND}: the service's`,
    ],
    ['state', hostState(row)],
    ['last seen', row.seen_at === null ? 'never' : `${formatSessionTime(row.seen_at)} UTC`],
    ['away since', row.away_since === null ? null : `${formatSessionTime(row.away_since)} UTC`],
    ['cores', String(row.cpu)],
    ['memory for servers', `${row.used_ram_mb} of ${row.promised_ram_mb} MiB used`],
    ['disk for servers', `${row.used_disk_gb} of ${row.promised_disk_gb} GiB used`],
    ['reserve', formatReserve(row.reserve_ram_mb, row.reserve_disk_gb) || 'none'],
    ['tags', row.tags.join(' ') || 'none'],
    ['contents', contents.join(', ')],
    ['images', isRemote ? `${row.images} of ${row.images_wanted}` : null],
    ...measuredFacts(row),
    ['certificate', isRemote ? formatCertificate(row) : null],
  ];
}

/** A host that was never seen has none. */
function measuredFacts(row: SeenHostRow): [string, string | null][] {
  if (row.seen_at === null) return [];
  const known = (text: string): string => (row.version === null ? OUTDATED : text);
  const gib = (size: number | null) => (size ?? 0).toFixed(1);
  return [
    ['version', known(row.version ?? '')],
    ['protocol', row.protocol === null ? null : String(row.protocol)],
    ['latency', row.latency_ms === null ? UNKNOWN : `${row.latency_ms.toFixed(1)} ms`],
    ['clock', known(describeSkew(row.skew_ms ?? 0).replace('clock ', ''))],
    ['up', known(`${Math.floor(((row.uptime_s ?? 0) * SECOND_MS) / HOUR_MS)} hours`)],
    ['load per core', known(`${(row.load ?? 0).toFixed(2)} (${row.cores ?? 0} cores)`)],
    ['memory', known(`${row.ram_available_mb ?? 0} of ${row.ram_mb ?? 0} MiB available`)],
    ['disk', known(`${gib(row.disk_free_gb)} of ${gib(row.disk_gb)} GiB free`)],
  ];
}

function formatCertificate({ certificate_until: until, renewal_failures: failures }: SeenHostRow): string {
  const ends = until === null ? 'self-signed' : `until ${formatSessionTime(until)} UTC`;
  return failures === 0 ? ends : `${ends}, ${formatCount(failures, 'renewal')} failed`;
}
