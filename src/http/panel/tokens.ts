/** API tokens. */
import { type CreatedToken, createToken } from '../../domain/tokens/create-token.ts';
import { pageTokens } from '../../domain/tokens/list-tokens.ts';
import { tokensView } from '../../panel/tokens.ts';
import { ACCOUNT_PATHS, PANEL_FIELDS } from '../../spec/paths.ts';
import { field } from '../form.ts';
import { moment } from './fields.ts';
import { readList } from './list.ts';
import { type Done, type OwnForm, type PanelPage, restForm } from './page.ts';
import { PASSWORD_FIELD, passwordAgain } from './password-again.ts';

const create: OwnForm = {
  audit: 'token.create',
  rest: 'tokens.create',
  counted: 'failures',
  run: async ({ edge, form, customer }, keep) => {
    const done = ({ plaintext }: CreatedToken): Done => ({ shown: { token: plaintext } });
    const wanted = {
      name: field(form, 'name'),
      scope: field(form, 'scope'),
      expiresAt: String(moment(form, 'expires_at') ?? ''),
      currentPassword: field(form, PASSWORD_FIELD),
    };
    const created = await passwordAgain(() =>
      createToken(edge.service, customer(), wanted, (tx, made) =>
        keep(tx as never, done(made as CreatedToken)),
      ),
    );
    return done(created);
  },
};

export const TOKENS_PAGE: PanelPage = {
  path: ACCOUNT_PATHS.tokens,
  access: 'customer',
  shows: ['tokens.list'],
  show: async (look) => {
    const { items, first, next } = await readList(look, 'tokens.list', (page) =>
      pageTokens(look.service, look.customer(), page),
    );
    return tokensView({
      tokens: items,
      first,
      next,
      forms: look.forms,
      made: look.shown?.texts.token ?? null,
    });
  },
  forms: {
    create,
    revoke: restForm({
      does: 'tokens.delete',
      params: (form) => ({ id: field(form, PANEL_FIELDS.key) }),
      done: () => ({ to: ACCOUNT_PATHS.tokens, notice: 'token_revoked' }),
    }),
  },
};
