/** API token pages. */
import { type CreatedToken, createToken, getToken, pageTokens } from '../../../domain/tokens/tokens.ts';
import { invalidRequest } from '../../../kernel/fail.ts';
import { tokenView } from '../../../panel/account/token-limits.ts';
import { tokensView } from '../../../panel/account/tokens.ts';
import { ACCOUNT_PATHS, PANEL_FIELDS } from '../../../spec/paths.ts';
import { type ApiToken, ApiTokenPatch } from '../../../spec/schemas/api-token.ts';
import type { TokenLimitsBody } from '../../../spec/schemas/token-limits.ts';
import { type Form, field } from '../../form.ts';
import { createChecker } from '../../v1/validation.ts';
import { dateTime, number, text, trimmedLines, untrimmedText } from '../field-readers.ts';
import { readList } from '../list.ts';
import { customForm, type PanelPage, page, restForm } from '../page-types.ts';
import { hasPasskeys, readOwnerProof } from './account.ts';

const createTokenForm = customForm<CreatedToken>({
  audit: 'token.create',
  rest: 'tokens.create',
  limitedBy: 'failures',
  run: async ({ edge, form, customer }) => {
    const { limits } = readLimits(form);
    const request = {
      name: field(form, 'name'),
      scope: field(form, 'scope'),
      expiresAt: String(dateTime(form, 'expires_at') ?? ''),
      ...readOwnerProof(form),
      ...(limits ? { limits: checkLimits(limits) } : {}),
    };
    return await createToken(edge.service, customer(), request);
  },
  done: ({ plaintext }) => ({ shown: { token: plaintext } }),
});

const LIMIT_READERS: Readonly<Record<keyof TokenLimitsBody, typeof text>> = {
  ip_cidrs: trimmedLines,
  operations: trimmedLines,
  resources: trimmedLines,
  label_selector: text,
  regions: trimmedLines,
  spend_usd: number,
  spend_period: text,
  max_servers: number,
};

/** Reads the limits that were entered. A period alone is none: its field always has a value. */
function readLimits(form: Form): { limits?: object } {
  const entries = Object.entries(LIMIT_READERS)
    .map(([name, read]) => [name, read(form, `limits.${name}`)] as const)
    .filter(([, value]) => value !== undefined);
  const hasSpend = entries.some(([name]) => name === 'spend_usd');
  const given = entries.filter(([name]) => name !== 'spend_period' || hasSpend);
  return given.length === 0 ? {} : { limits: Object.fromEntries(given) };
}

const checkBody = createChecker(ApiTokenPatch);

function checkLimits(limits: object): TokenLimitsBody {
  const items = checkBody({ limits });
  if (items.length > 0) invalidRequest(items);
  return limits;
}

export const TOKEN_PAGE = page({
  path: `${ACCOUNT_PATHS.tokens}/{id}`,
  access: 'customer',
  readOperations: ['tokens.get'],
  render: async (look) => {
    const token = await getToken(look.service, look.customer(), look.params.id);
    return tokenView({ token, forms: look.forms });
  },
  forms: {
    update: restForm({
      operation: 'tokens.update',
      body: (form) => ({ name: untrimmedText(form, 'name'), ...readLimits(form) }),
      done: ({ id }: ApiToken) => ({ to: `${ACCOUNT_PATHS.tokens}/${id}`, notice: 'token_updated' }),
    }),
  },
});

export const TOKENS_PAGE: PanelPage = {
  path: ACCOUNT_PATHS.tokens,
  access: 'customer',
  readOperations: ['tokens.list'],
  render: async (context) => {
    const { items, first, next } = await readList(context, 'tokens.list', (page) =>
      pageTokens(context.service, context.customer(), page),
    );
    return tokensView({
      tokens: items,
      first,
      next,
      forms: context.forms,
      createdToken: context.shown?.texts.token ?? null,
      hasPasskeys: await hasPasskeys(context),
    });
  },
  forms: {
    create: createTokenForm,
    revoke: restForm({
      operation: 'tokens.delete',
      params: (form) => ({ id: field(form, PANEL_FIELDS.key) }),
      done: () => ({ to: ACCOUNT_PATHS.tokens, notice: 'token_revoked' }),
    }),
  },
};
