/** API token pages. */
import { type CreatedToken, createToken, pageTokens } from '../../../domain/tokens/tokens.ts';
import { tokensView } from '../../../panel/account/tokens.ts';
import { ACCOUNT_PATHS, PANEL_FIELDS } from '../../../spec/paths.ts';
import { field } from '../../form.ts';
import { dateTime } from '../field-readers.ts';
import { readList } from '../list.ts';
import { customForm, type PanelPage, restForm } from '../page-types.ts';
import { hasPasskeys, readOwnerProof } from './account.ts';

const createTokenForm = customForm<CreatedToken>({
  audit: 'token.create',
  rest: 'tokens.create',
  limitedBy: 'failures',
  run: async ({ edge, form, customer }) => {
    const request = {
      name: field(form, 'name'),
      scope: field(form, 'scope'),
      expiresAt: String(dateTime(form, 'expires_at') ?? ''),
      ...readOwnerProof(form),
    };
    return await createToken(edge.service, customer(), request);
  },
  done: ({ plaintext }) => ({ shown: { token: plaintext } }),
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
