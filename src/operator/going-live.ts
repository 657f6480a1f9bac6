/** Settings that a service needs before it can go live. */
import type { Finding } from '../domain/health/status.ts';
import type { SettingName, SettingView } from '../spec/settings.ts';

const SUBJECT = 'going live';

/** Setting one of these enables its coin. */
const COIN_NODES: readonly SettingName[] = [
  'SKERRY_BTC_URL',
  'SKERRY_LTC_URL',
  'SKERRY_XMR_WALLET_URL',
  'SKERRY_ETH_URL',
  'SKERRY_TRON_URL',
  'SKERRY_SOL_URL',
];

/** Returns the remaining steps: notes in a sandbox, failures on a live service that needs them. */
export function checkSettings(views: readonly SettingView[]): Finding[] {
  const values = new Map(views.map(({ name, value }) => [name, value]));
  const live = values.get('SKERRY_MODE') === 'live';
  const missing = STEPS.filter(({ isDone }) => !isDone(values));
  if (live && missing.length === 0)
    return [{ level: 'ok', subject: SUBJECT, message: 'live, everything is set' }];
  const steps = missing.map(({ message, required }): Finding => {
    return { level: live && required ? 'fail' : 'note', subject: SUBJECT, message };
  });
  if (live) return [{ level: 'ok', subject: SUBJECT, message: 'live' }, ...steps];
  const sandbox =
    'sandbox: coins are simulated. To accept real customers, start on an empty database and set:';
  return [{ level: 'note', subject: SUBJECT, message: sandbox }, ...steps];
}

interface Step {
  readonly isDone: (values: ReadonlyMap<SettingName, string | null>) => boolean;
  readonly message: string;
  /** A live service needs it; the other steps are optional. */
  readonly required: boolean;
}

const isSet = (name: SettingName) => (values: ReadonlyMap<SettingName, string | null>) =>
  (values.get(name) ?? '') !== '';

const STEPS: readonly Step[] = [
  {
    isDone: isSet('DATABASE_URL'),
    message: 'DATABASE_URL: an empty PostgreSQL database of its own; sandbox data cannot be moved over',
    required: true,
  },
  {
    isDone: (values) => values.get('SKERRY_COMPUTE') !== 'simulator',
    message: 'SKERRY_COMPUTE=qemu or hosts: real servers; you can try this in a sandbox first',
    required: true,
  },
  {
    isDone: (values) => values.get('SKERRY_BASE_URL')?.startsWith('https://') ?? false,
    message: 'SKERRY_BASE_URL=https://…: the public address; cookies are secure only over https',
    required: true,
  },
  {
    isDone: (values) => COIN_NODES.some((name) => isSet(name)(values)),
    message:
      'no coin is enabled: set a node and a public key for each, together with SKERRY_MODE=live; ' +
      'see docs/operators/coins.md',
    required: true,
  },
  {
    isDone: (values) => values.get('SKERRY_WORTHLESS_COINS') !== 'true',
    message:
      'SKERRY_WORTHLESS_COINS: coins of test networks are credited; unset it before you accept customers',
    required: true,
  },
  {
    isDone: isSet('SKERRY_TRUSTED_PROXIES'),
    message: 'SKERRY_TRUSTED_PROXIES is unset: behind a reverse proxy, all clients share one address',
    required: false,
  },
  {
    isDone: isSet('SKERRY_SMTP_URL'),
    message:
      'SKERRY_SMTP_URL is unset: no mail is sent, so no expiration warnings and no password reset links',
    required: false,
  },
  {
    isDone: isSet('SKERRY_CONTACT'),
    message: 'SKERRY_CONTACT is unset: customers do not see how to reach you',
    required: false,
  },
  {
    isDone: (values) => isSet('SKERRY_TERMS_FILE')(values) || isSet('SKERRY_TERMS_URL')(values),
    message: 'SKERRY_TERMS_FILE is unset: the panel shows no terms of service',
    required: false,
  },
  {
    isDone: (values) => values.get('SKERRY_MODE') === 'live',
    message:
      'SKERRY_MODE=live: then run skerryd migrate, skerryd catalogue load, skerryd doctor, ' +
      'and skerryd chain doctor',
    required: true,
  },
];
