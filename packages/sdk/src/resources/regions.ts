import type { Pages } from '../pages.ts';
import type { CallOptions } from '../transport.ts';
import type { ListQuery, Region } from '../types.ts';
import { Resource } from './resource.ts';

/** Regions for servers and volumes (SPEC "Region"). */
export class Regions extends Resource {
  list(query: ListQuery<'regions.list'> = {}, options?: CallOptions): Pages<Region> {
    return this.pages(query, options, (api, asked, attempt) =>
      api.GET('/regions', { params: { query: asked }, ...attempt }),
    );
  }

  get(id: string, options?: CallOptions): Promise<Region> {
    return this.transport.run(
      (api, attempt) => api.GET('/regions/{id}', { params: { path: { id } }, ...attempt }),
      options,
    );
  }
}
