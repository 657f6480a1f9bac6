import type { Pages } from '../pages.ts';
import type { CallOptions } from '../transport.ts';
import type { ApiToken, CreateApiToken, CreatedApiToken, ListQuery } from '../types.ts';
import { Resource } from './resource.ts';

/** API tokens (SPEC "API token"). */
export class Tokens extends Resource {
  list(query: ListQuery<'tokens.list'> = {}, options?: CallOptions): Pages<ApiToken> {
    return this.pages(query, options, (api, asked, attempt) =>
      api.GET('/account/tokens', { params: { query: asked }, ...attempt }),
    );
  }

  /** `token` in the response is shown only once. */
  create(body: CreateApiToken, options?: CallOptions): Promise<CreatedApiToken> {
    return this.transport.run((api, attempt) => api.POST('/account/tokens', { body, ...attempt }), {
      ...options,
      post: true,
    });
  }

  /** Revokes the token immediately. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this.transport.run(
      (api, attempt) => api.DELETE('/account/tokens/{id}', { params: { path: { id } }, ...attempt }),
      { ...options, ignoreNotFoundOnRetry: true },
    );
  }
}
