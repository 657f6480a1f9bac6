import type { Pages } from '../pages.ts';
import type { CallOptions } from '../transport.ts';
import type { ListQuery, Plan } from '../types.ts';
import { Resource } from './resource.ts';

/** Plans for servers (SPEC "Plan"). `cycles` contains the price of each billing cycle. */
export class Plans extends Resource {
  list(query: ListQuery<'plans.list'> = {}, options?: CallOptions): Pages<Plan> {
    return this.pages(query, options, (api, asked, attempt) =>
      api.GET('/plans', { params: { query: asked }, ...attempt }),
    );
  }

  get(id: string, options?: CallOptions): Promise<Plan> {
    return this.transport.run(
      (api, attempt) => api.GET('/plans/{id}', { params: { path: { id } }, ...attempt }),
      options,
    );
  }
}
