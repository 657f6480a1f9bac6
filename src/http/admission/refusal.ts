/**
 * The response to a request that is refused under load, in the form of the request's surface. Refusals are
 * many, so they are written in advance, but for the request id.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { Failure } from '../../kernel/fail.ts';
import { errorView, type Frame, renderDocument } from '../../panel/parts/layout.ts';
import { OVERLOAD_MESSAGE } from '../../spec/error-messages.ts';
import { FAILURES } from '../../spec/errors.ts';
import { errorBody } from '../errors.ts';
import { PAGE_HEADERS } from '../panel/visitor.ts';
import { v1ErrorResponse } from '../v1/error-response.ts';

const FAILURE = new Failure('maintenance', { retry_after_s: 1 }, OVERLOAD_MESSAGE);
export const REFUSAL_STATUS = FAILURES.maintenance.session;

export type Site = Pick<Frame, 'brand' | 'sandbox' | 'assets'>;

export interface Refusal {
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: string;
}

const COMMON_HEADERS = ['x-content-type-options', 'nosniff', 'cache-control', 'no-store'];
const JSON_HEADERS = [...COMMON_HEADERS, 'content-type', 'application/json; charset=utf-8'];
const REST_HEADERS = [
  ...JSON_HEADERS,
  ...['access-control-allow-origin', '*', 'access-control-expose-headers', 'X-Request-Id'],
];
const PAGE_REFUSAL_HEADERS = [...COMMON_HEADERS, ...Object.entries(PAGE_HEADERS).flat()];

const ID_PLACE = '%request id%';
const SESSION_BODY = JSON.stringify(errorBody(FAILURE));
const [REST_BODY_START = '', REST_BODY_END = ''] = JSON.stringify(
  v1ErrorResponse(FAILURE, ID_PLACE).body,
).split(ID_PLACE);

/** Returns the refusal in the form of the request's surface. */
export function refusalFor(url: string, { accept }: IncomingHttpHeaders, id: string, site: Site): Refusal {
  if (url.startsWith('/v1')) return { headers: REST_HEADERS, body: REST_BODY_START + id + REST_BODY_END };
  const isPage = accept?.includes('text/html') && !/\.php(?:$|\?)/.test(url);
  if (!isPage) return { headers: JSON_HEADERS, body: SESSION_BODY };
  return { headers: PAGE_REFUSAL_HEADERS, body: refusalPage(site, id) };
}

/** Letters of the alphabet of ids. */
const LETTERS = [...'abcdefghij'];
const COUNTED_LETTERS = LETTERS.flatMap((a) => LETTERS.flatMap((b) => LETTERS.map((c) => a + b + c)));

/**
 * The request ids of refusals. Three letters of each count up, because drawing an id costs a tenth of a
 * refusal. The letter after them is not a whole one.
 */
export class RefusalIds {
  readonly #newRequestId: () => string;
  #start = '';
  #end = '';
  #next = COUNTED_LETTERS.length;

  constructor(newRequestId: () => string) {
    this.#newRequestId = newRequestId;
  }

  next(): string {
    if (this.#next === COUNTED_LETTERS.length) {
      const id = this.#newRequestId();
      this.#start = id.slice(0, -4);
      this.#end = id.slice(-1);
      this.#next = 0;
    }
    return this.#start + COUNTED_LETTERS[this.#next++] + this.#end;
  }
}

const REST_HEAD = [
  'HTTP/1.1 503 Service Unavailable',
  ...Array.from({ length: REST_HEADERS.length / 2 }, (_, n) =>
    REST_HEADERS.slice(n * 2, n * 2 + 2).join(': '),
  ),
  `content-length: `,
].join('\r\n');

/** Returns the refusal of a REST request as it is sent, in ASCII. */
export function restRefusal(id: string): string {
  const length = REST_BODY_START.length + id.length + REST_BODY_END.length;
  return `${REST_HEAD}${length}\r\nx-request-id: ${id}\r\n\r\n${REST_BODY_START}${id}${REST_BODY_END}`;
}

function refusalPage(site: Site, requestId: string): string {
  return renderDocument(errorView(OVERLOAD_MESSAGE, requestId), {
    ...{
      ...site,
      account: null,
      announcements: { shown: [], hasMore: false, back: null },
      closed: null,
      notice: null,
      live: null,
      autoRefresh: null,
    },
    forms: { csrf: '', submissionKey: '', refused: null, values: new Map(), problems: [], failure: null },
  });
}
