import type { Alert, Skerry } from '@skerry/sdk';
import pMap from 'p-map';
import { fetchAll } from '../apply/actual.ts';
import type { Context } from '../command.ts';
import { nullIf } from '../find.ts';
import { type ExportedAccount, withoutGone } from './account.ts';
import { toPlaybook } from './ansible.ts';
import { toHcl } from './hcl.ts';
import { toProgram } from './pulumi.ts';

/** Keys are fetched one by one: lists omit the key itself. */
const CONCURRENCY = 4;

const WRITERS = { hcl: toHcl, ansible: toPlaybook, pulumi: toProgram };

/** Prints the configuration; with `-o json`, as a member of an object. */
export async function exportAccount(
  { skerry, output, signal }: Context,
  format: keyof typeof WRITERS,
): Promise<void> {
  const content = WRITERS[format](await fetchAccount(skerry, signal));
  output.text(content.trimEnd(), { format, content });
}

async function fetchAccount(skerry: Skerry, signal: AbortSignal): Promise<ExportedAccount> {
  const call = { signal };
  const [listedKeys, groups, servers, volumes, alerts] = await Promise.all([
    fetchAll(skerry.sshKeys.list({}, call)),
    fetchAll(skerry.firewallGroups.list({}, call)),
    fetchAll(skerry.servers.list({}, call)),
    fetchAll(skerry.volumes.list({}, call)),
    fetchAlerts(skerry, signal),
  ]);
  const keys = await pMap(listedKeys, ({ id }) => skerry.sshKeys.get(id, call), { concurrency: CONCURRENCY });
  return withoutGone({ keys, groups, servers, volumes, alerts });
}

/** A service before API 1.7 has no alerts, and a limited token cannot list them. */
async function fetchAlerts(skerry: Skerry, signal: AbortSignal): Promise<readonly Alert[]> {
  const listed = nullIf('not_found', fetchAll(skerry.alerts.list({}, { signal })));
  return (await nullIf('forbidden_scope', listed)) ?? [];
}
