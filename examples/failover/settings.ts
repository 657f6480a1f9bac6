/** Settings from the environment. */
export interface Settings {
  readonly baseUrl: string;
  readonly token: string;
  /** The webhook's signing secret, `whsec_…`. */
  readonly secret: string;
  /** Value of the label `group` on both servers. */
  readonly group: string;
  /** ID of the volume that follows the primary. */
  readonly volume: string;
  /** Command for `sh -c`, run after the standby took over. */
  readonly announceCommand: string | null;
  readonly port: number;
  /** Paths of PEM files. Without them the receiver serves HTTP, for a proxy in front of it. */
  readonly tls: { readonly cert: string; readonly key: string } | null;
  /** Wait after a failed step. */
  readonly retryMs: number;
  /** Interval of checks without an event, in case one was lost. */
  readonly checkMs: number;
}

export function readSettings(env: Readonly<Record<string, string | undefined>>): Settings {
  const text = (name: string, fallback?: string): string => {
    const value = env[name] || fallback;
    if (!value) throw new Error(`set ${name}`);
    return value;
  };
  const seconds = (name: string, fallback: number): number => {
    const value = Number(env[name] || fallback);
    if (!(value > 0 && value <= 86_400)) throw new Error(`${name} must be a number of seconds, up to 86400`);
    return value * 1_000;
  };
  const { TLS_CERT: cert, TLS_KEY: key } = env;
  return {
    baseUrl: text('SKERRY_API_URL'),
    token: text('SKERRY_TOKEN'),
    secret: text('WEBHOOK_SECRET'),
    group: text('GROUP', 'db'),
    volume: text('VOLUME'),
    announceCommand: env.ANNOUNCE_COMMAND || null,
    port: Number(text('PORT', '9000')),
    tls: cert && key ? { cert, key } : null,
    retryMs: seconds('RETRY_S', 15),
    checkMs: seconds('CHECK_S', 300),
  };
}
