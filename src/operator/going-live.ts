/** What stands between these settings and real customers: the way from a sandbox to a live service. */
import type { Finding } from '../domain/status.ts';
import type { SettingName, SettingView } from '../spec/settings.ts';

const SUBJECT = 'going live';

/** A coin is taken where this is set. */
const COIN_NODES: readonly SettingName[] = [
  'SKERRY_BTC_URL',
  'SKERRY_LTC_URL',
  'SKERRY_XMR_WALLET_URL',
  'SKERRY_ETH_URL',
  'SKERRY_TRON_URL',
  'SKERRY_SOL_URL',
];

/** In a sandbox notes of what is still to be done, in their order; of a live service what must be mended. */
export function checkSettings(views: readonly SettingView[]): Finding[] {
  const values = new Map(views.map(({ name, value }) => [name, value]));
  const live = values.get('SKERRY_MODE') === 'live';
  const missing = STEPS.filter(({ isDone }) => !isDone(values));
  if (live && missing.length === 0)
    return [{ level: 'ok', subject: SUBJECT, message: 'live, and all is set' }];
  const steps = missing.map(({ message, required }): Finding => {
    return { level: live && required ? 'look' : 'note', subject: SUBJECT, message };
  });
  if (live) return [{ level: 'ok', subject: SUBJECT, message: 'live' }, ...steps];
  const sandbox = 'a sandbox: nobody pays with anything real. For real customers, on an empty database:';
  return [{ level: 'note', subject: SUBJECT, message: sandbox }, ...steps];
}

interface Step {
  readonly isDone: (values: ReadonlyMap<SettingName, string | null>) => boolean;
  readonly message: string;
  /** Without it a live service is not fit for customers; the others are choices. */
  readonly required: boolean;
}

const isSet = (name: SettingName) => (values: ReadonlyMap<SettingName, string | null>) =>
  (values.get(name) ?? '') !== '';

const STEPS: readonly Step[] = [
  {
    isDone: isSet('DATABASE_URL'),
    message: 'DATABASE_URL: a PostgreSQL of its own, empty; what was tried in a sandbox stays there',
    required: true,
  },
  {
    isDone: (values) => values.get('SKERRY_COMPUTE') === 'qemu',
    message: 'SKERRY_COMPUTE=qemu: real machines, which can be had in a sandbox first',
    required: true,
  },
  {
    isDone: (values) => values.get('SKERRY_BASE_URL')?.startsWith('https://') ?? false,
    message: 'SKERRY_BASE_URL=https://…: where customers find you; cookies are safe over https only',
    required: true,
  },
  {
    isDone: (values) => COIN_NODES.some((name) => isSet(name)(values)),
    message:
      'no coin is taken: a node and a public key for each, set together with SKERRY_MODE=live; see docs/operators/coins.md',
    required: true,
  },
  {
    isDone: (values) => values.get('SKERRY_WORTHLESS_COINS') !== 'true',
    message: 'SKERRY_WORTHLESS_COINS: coins of test networks are credited; unset it before anybody is let in',
    required: true,
  },
  {
    isDone: isSet('SKERRY_TRUSTED_PROXIES'),
    message: 'SKERRY_TRUSTED_PROXIES: unset, so behind a reverse proxy all callers look like one',
    required: false,
  },
  {
    isDone: isSet('SKERRY_SMTP_URL'),
    message:
      'SKERRY_SMTP_URL: unset, so no mail is sent: no warnings before a server ends, no lost passwords by link',
    required: false,
  },
  {
    isDone: isSet('SKERRY_CONTACT'),
    message: 'SKERRY_CONTACT: unset, so customers do not know how to reach you',
    required: false,
  },
  {
    isDone: isSet('SKERRY_TERMS_FILE'),
    message: 'SKERRY_TERMS_FILE: unset, so there are no terms to read',
    required: false,
  },
  {
    isDone: (values) => values.get('SKERRY_MODE') === 'live',
    message:
      'SKERRY_MODE=live, then: skerryd migrate, skerryd catalogue load, skerryd doctor, skerryd chain doctor',
    required: true,
  },
];
