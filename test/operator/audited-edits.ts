/** Commands that edit the catalog, or stop floods, in an order that lets each succeed. */
import assert from 'node:assert/strict';
import type { Service } from '../../src/domain/context.ts';
import { formatId, newId, parseId } from '../../src/kernel/ids.ts';
import type { Action } from '../../src/spec/actions.ts';
import { insertFlood } from '../../src/store/servers/floods.ts';

export interface Change {
  readonly args: () => readonly string[];
  readonly audits: Action;
  /** Set if the row is in the customer's audit log; otherwise only the operator's has it. */
  readonly of?: 'customer';
}

export const CATALOGUE_CHANGES: Readonly<Record<string, Change>> = {
  'plans create': {
    args: () => [
      ...['s9', '--category', 'vps', '--cpu', '1', '--cpu-model', 'A CPU', '--ram-mb', '1024'],
      ...['--disk-gb', '10', '--transfer-tb', '1', '--usd-month', '9', '--regions', 'par,zrh', '--yes'],
    ],
    audits: 'plan.create',
  },
  'plans change': { args: () => ['s9', '--ram-mb', '2048', '--regions', 'par'], audits: 'plan.change' },
  'plans retire': { args: () => ['s9'], audits: 'plan.retire' },
  'plans restore': { args: () => ['s9'], audits: 'plan.restore' },
  'regions create': {
    args: () => [
      ...['osl', '--session-code', 'osl', '--name', 'Oslo'],
      ...['--country', 'NO', '--pop', 'OSL1'],
    ],
    audits: 'region.create',
  },
  'regions change': { args: () => ['osl', '--name', 'Oslo West'], audits: 'region.change' },
  'regions close': { args: () => ['osl'], audits: 'region.retire' },
  'regions open': { args: () => ['osl', '--plans', 's9'], audits: 'region.restore' },
  'images create': {
    args: () => [
      ...['plan9', '--os-version', '4', '--arch', 'amd64', '--size-gb', '1.5'],
      ...['--cloud-init', 'no', '--released', '2025-01-01'],
    ],
    audits: 'official_image.create',
  },
  'images change': { args: () => ['plan9-4', '--deprecated', '2026-01-01'], audits: 'official_image.change' },
  'images retire': { args: () => ['plan9-4'], audits: 'official_image.retire' },
  'images restore': { args: () => ['plan9-4'], audits: 'official_image.restore' },
};

export function floodChanges(
  on: () => { readonly server: string; readonly flood: string },
): Readonly<Record<string, Change>> {
  const order = ['--minutes', '5', '--reason', 'a test'];
  const end = ['--reason', 'a test'];
  const [begins, ends] = ['server.blackhole', 'server.lift_blackhole'] as const;
  return {
    'servers blackhole': { args: () => [on().server, ...order], audits: begins, of: 'customer' },
    'servers lift-blackhole': { args: () => [on().server, ...end], audits: ends, of: 'customer' },
    'floods blackhole': { args: () => [on().flood, ...order], audits: begins, of: 'customer' },
    'floods lift': { args: () => [on().flood, ...end], audits: ends, of: 'customer' },
  };
}

/** Adds an open flood to the server, and returns its id. */
export async function addFlood({ db, clock }: Service, shownServer: string): Promise<string> {
  const now = clock.now();
  const id = newId(now);
  const serverId = parseId('server', shownServer) ?? assert.fail(shownServer);
  const owner = await db.row<{ customer_id: string }>('select customer_id from servers where id = $1', [
    serverId,
  ]);
  await insertFlood(db, {
    ...{ id, server_id: serverId, customer_id: owner?.customer_id ?? '', direction: 'in', family: 4 },
    ...{ samples: 3, peak_packets_per_s: 200_000n, peak_bits_per_s: 100_000_000n },
    ...{ began_at: now, last_seen_at: now, noticed_at: now },
  });
  return formatId('flood', id);
}

/** Hosts of their own, from the first day to the loss. */
export const HOST_CHANGES: Readonly<Record<string, Change>> = {
  'hosts add': {
    args: () => ['h9', '--region', 'par', '--cpu', '8', '--ram-mb', '4096', '--disk-gb', '100'],
    audits: 'host.add',
  },
  'hosts resize': { args: () => ['h9', '--disk-gb', '200'], audits: 'host.resize' },
  'hosts set': { args: () => ['h9', '--tag', 'nvme', '--reserve-ram-mb', '512'], audits: 'host.set' },
  'hosts drain': { args: () => ['h9'], audits: 'host.drain' },
  'hosts undrain': { args: () => ['h9'], audits: 'host.undrain' },
  'hosts invite': {
    args: () => [
      ...['h10', '--region', 'par', '--address', 'h10.example:7443'],
      ...['--cpu', '8', '--ram-mb', '4096', '--disk-gb', '100'],
    ],
    audits: 'host.add',
  },
  'hosts revoke': { args: () => ['h10'], audits: 'host.revoke' },
  'hosts remove': { args: () => ['h9'], audits: 'host.remove' },
  'hosts lost': { args: () => ['h10', '--refund', '--yes'], audits: 'host.lose' },
  'hosts fenced': { args: () => ['h10'], audits: 'host.fence' },
};
