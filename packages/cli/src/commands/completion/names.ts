/** Names of what an account has: one call, and nothing at all when it does not answer at once. */
import { type Pages, Skerry } from '@skerry/sdk';
import { readConfig } from '../../config/config.ts';
import { chooseAccount } from '../../config/contexts.ts';
import type { Candidate } from './candidates.ts';

/** Nobody waits longer for a list at the cursor. */
const PATIENCE_MS = 1_000;
const PAGE_SIZE = 100;
/** A shell would cut or expand other names: the id stands for them. */
const PLAIN_NAME = /^[A-Za-z0-9][A-Za-z0-9._@+-]*$/;

type Env = Readonly<Record<string, string | undefined>>;
type Names = () => Promise<Candidate[]>;

/** `kind` as a row says it: `server`, `ssh-key`, `sshKey`. Empty for kinds that have no names. */
export async function namesOf(kind: string, env: Env, contextName: string | undefined): Promise<Candidate[]> {
  const word = kind.toLowerCase().replace(/[-_ ]/g, '');
  if (word === 'context') return Object.keys(readConfig(env).contexts).map((name) => ({ word: name }));
  const { url, token } = chooseAccount(env, contextName);
  const once = { maxRetries: 0, rateLimitWaitMs: 0, timeoutMs: PATIENCE_MS };
  const names = kindsOf(new Skerry({ baseUrl: url, token, ...once }));
  return Object.hasOwn(names, word) ? ((await names[word]?.()) ?? []) : [];
}

function kindsOf(skerry: Skerry): Readonly<Record<string, Names>> {
  const page = { page_size: PAGE_SIZE };
  const firewall = named(() => skerry.firewallGroups.list(page));
  return {
    server: named(() => skerry.servers.list(page)),
    volume: named(() => skerry.volumes.list(page)),
    snapshot: named(() => skerry.snapshots.list(page)),
    sshkey: named(() => skerry.sshKeys.list(page)),
    firewall,
    firewallgroup: firewall,
    group: firewall,
    token: named(() => skerry.tokens.list(page)),
    webhook: listed(
      () => skerry.webhooks.list(page),
      ({ id, url }) => ({ word: id, about: url }),
    ),
    topup: listed(
      () => skerry.topups.list(page),
      ({ id, coin, amount_usd, status }) => ({
        word: id,
        about: `${coin}, ${amount_usd} USD, ${status}`,
      }),
    ),
    plan: listed(
      () => skerry.plans.list(page),
      ({ id, cpu, ram_mb, disk_gb }) => ({
        word: id,
        about: `${cpu} cores, ${ram_mb} MiB, ${disk_gb} GiB`,
      }),
    ),
    region: listed(
      () => skerry.regions.list(page),
      ({ id, name }) => ({ word: id, about: name }),
    ),
    image: listed(
      () => skerry.images.list(page),
      ({ id, type, family, version }) =>
        type === 'official' ? { word: `${family}-${version}`, about: id } : { word: id, about: version },
    ),
  };
}

function named(list: () => Pages<{ readonly id: string; readonly name: string }>): Names {
  return listed(list, ({ id, name }) =>
    PLAIN_NAME.test(name) ? { word: name, about: id } : { word: id, about: name },
  );
}

function listed<T>(list: () => Pages<T>, candidate: (item: T) => Candidate): Names {
  return async () => (await list().first()).data.map(candidate);
}
