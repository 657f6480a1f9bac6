/** The mail server, parsed from `smtp://user:password@host:587` or `smtps://user:password@host:465`. */
export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte. Otherwise STARTTLS is required: nothing is sent without it. */
  readonly secure: boolean;
  /** The server is this machine, so plain text is allowed. */
  readonly loopback: boolean;
  readonly login: { readonly user: string; readonly password: string } | null;
}

/** Returns undefined for any other URL. */
export function parseSmtpUrl(text: string): SmtpServer | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const secure = url?.protocol === 'smtps:';
  if (!url || (!secure && url.protocol !== 'smtp:') || url.hostname === '') return undefined;
  if (!/^\/?$/.test(url.pathname) || url.search !== '' || url.hash !== '') return undefined;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const [user, password] = [decodeComponent(url.username), decodeComponent(url.password)];
  if (user === undefined || password === undefined || (user === '') !== (password === '')) return undefined;
  return {
    host,
    port: url.port === '' ? (secure ? 465 : 587) : Number(url.port),
    secure,
    loopback: host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host),
    login: user === '' ? null : { user, password },
  };
}

function decodeComponent(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** The sender of mails. */
export interface Sender {
  /** Empty when only an address was given. */
  readonly name: string;
  readonly address: string;
  readonly domain: string;
}

/** Parses `Skerry <no-reply@skerry.example>` or an address alone; undefined if the text is invalid. */
export function parseSender(text: string): Sender | undefined {
  const match = /^(?:([^<>"\\\p{C}]{0,100}?)\s*<([^<>]+)>|([^<>]+))$/u.exec(text.trim());
  const address = match?.[2] ?? match?.[3] ?? '';
  const domain = /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@([a-z0-9-]+(?:\.[a-z0-9-]+)*)$/i.exec(address)?.[1];
  if (!match || domain === undefined || address.length > 254) return undefined;
  return { name: match[1] ?? '', address, domain };
}

/** A ticket's address adds 45 characters to the local part, which may have 64. */
const TICKET_LOCAL = /^[\w.-]{1,19}$/;

/** Whether tickets can have this address: plus signs separate the ticket. */
export function isTicketAddress(text: string): boolean {
  const sender = parseSender(text);
  return sender?.address === text && TICKET_LOCAL.test(text.slice(0, text.lastIndexOf('@')));
}
