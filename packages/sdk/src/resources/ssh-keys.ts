import type { Pages } from '../pages.ts';
import type { CallOptions } from '../transport.ts';
import type { CreateSshKey, ListedSshKey, ListQuery, SshKey } from '../types.ts';
import { Resource } from './resource.ts';

/** SSH keys for new servers (SPEC "SSH key"). Lists omit the key itself. */
export class SshKeys extends Resource {
  list(query: ListQuery<'ssh_keys.list'> = {}, options?: CallOptions): Pages<ListedSshKey> {
    return this.pages(query, options, (api, asked, attempt) =>
      api.GET('/ssh-keys', { params: { query: asked }, ...attempt }),
    );
  }

  create(body: CreateSshKey, options?: CallOptions): Promise<SshKey> {
    return this.transport.run((api, attempt) => api.POST('/ssh-keys', { body, ...attempt }), {
      ...options,
      post: true,
    });
  }

  get(id: string, options?: CallOptions): Promise<SshKey> {
    return this.transport.run(
      (api, attempt) => api.GET('/ssh-keys/{id}', { params: { path: { id } }, ...attempt }),
      options,
    );
  }

  /** Servers that have the key keep it. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this.transport.run(
      (api, attempt) => api.DELETE('/ssh-keys/{id}', { params: { path: { id } }, ...attempt }),
      { ...options, ignoreNotFoundOnRetry: true },
    );
  }
}
