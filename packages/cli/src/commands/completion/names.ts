/** Loads names of the account's resources for completion, with one request. Throws on failure. */
import { type Pages, Skerry } from '@skerry/sdk';
import { readConfig } from '../../config/config.ts';
import { resolveAccount } from '../../config/contexts.ts';
import type { Candidate } from './candidates.ts';

/** Longer delays at the prompt are not acceptable. */
const TIMEOUT_MS = 1_000;
const PAGE_SIZE = 100;
/** Shells would split or expand other names; suggest the ID instead. */
const PLAIN_NAME = /^[A-Za-z0-9][A-Za-z0-9._@+-]*$/;

type Env = Readonly<Record<string, string | undefined>>;
type NameLoader = () => Promise<Candidate[]>;

/** Accepts `kind` in any spelling: `ssh-key`, `sshKey`. Returns an empty list for kinds without names. */
export async function loadNames(
  kind: string,
  env: Env,
  contextName: string | undefined,
): Promise<Candidate[]> {
  const word = kind.toLowerCase().replace(/[-_ ]/g, '');
  if (word === 'context') return Object.keys(readConfig(env).contexts).map((name) => ({ word: name }));
  const { url, token } = resolveAccount(env, contextName);
  const failFast = { maxRetries: 0, rateLimitWaitMs: 0, timeoutMs: TIMEOUT_MS };
  const names = loadersByKind(new Skerry({ baseUrl: url, token, ...failFast }));
  return Object.hasOwn(names, word) ? ((await names[word]?.()) ?? []) : [];
}

function loadersByKind(skerry: Skerry): Readonly<Record<string, NameLoader>> {
  const page = { page_size: PAGE_SIZE };
  const firewall = namedLoader(() => skerry.firewallGroups.list(page));
  return {
    server: namedLoader(() => skerry.servers.list(page)),
    volume: namedLoader(() => skerry.volumes.list(page)),
    snapshot: namedLoader(() => skerry.snapshots.list(page)),
    sshkey: namedLoader(() => skerry.sshKeys.list(page)),
    firewall,
    firewallgroup: firewall,
    group: firewall,
    alert: namedLoader(() => skerry.alerts.list(page)),
    token: namedLoader(() => skerry.tokens.list(page)),
    webhook: idLoader(
      () => skerry.webhooks.list(page),
      ({ url }) => url,
    ),
    ticket: idLoader(
      () => skerry.tickets.list(page),
      ({ subject }) => subject,
    ),
    topup: idLoader(
      () => skerry.topups.list(page),
      ({ coin, amount_usd, status }) => `${coin}, ${amount_usd} USD, ${status}`,
    ),
    plan: idLoader(
      () => skerry.plans.list(page),
      ({ cpu, ram_mb, disk_gb }) => `${cpu} cores, ${ram_mb} MiB, ${disk_gb} GiB`,
    ),
    region: idLoader(
      () => skerry.regions.list(page),
      ({ name }) => name,
    ),
    image: listLoader(
      () => skerry.images.list(page),
      ({ id, type, family, version }) =>
        type === 'official' ? { word: `${family}-${version}`, about: id } : { word: id, about: version },
    ),
  };
}

function namedLoader(list: () => Pages<{ readonly id: string; readonly name: string }>): NameLoader {
  return listLoader(list, ({ id, name }) =>
    PLAIN_NAME.test(name) ? { word: name, about: id } : { word: id, about: name },
  );
}

function idLoader<T extends { readonly id: string }>(
  list: () => Pages<T>,
  about: (item: T) => string,
): NameLoader {
  return listLoader(list, (item) => ({ word: item.id, about: about(item) }));
}

function listLoader<T>(list: () => Pages<T>, candidate: (item: T) => Candidate): NameLoader {
  return async () => (await list().first()).data.map(candidate);
}
