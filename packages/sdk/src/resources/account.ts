import type { Pages } from '../pages.ts';
import type { CallOptions } from '../transport.ts';
import type {
  Account as AccountObject,
  Action,
  ApiToken,
  AuditEvent,
  CreateApiToken,
  CreatedApiToken,
  CreateSshKey,
  Limit,
  ListedSshKey,
  ListQuery,
  SshKey,
  UpdateApiToken,
} from '../types.ts';
import { byId, Resource } from './resource.ts';

/** The account of the token. */
export class Account extends Resource {
  /** Returns the account, and the token that you use. */
  get(options?: CallOptions): Promise<AccountObject> {
    return this.transport.run((api) => api.GET('/account'), options);
  }
}

/** The limits of the account, and how much of each is used. */
export class Limits extends Resource {
  list(query: ListQuery<'limits.list'> = {}, options?: CallOptions): Pages<Limit> {
    return this.pages(query, options, (api, params) => api.GET('/account/limits', { params }));
  }
}

/** API tokens (SPEC "API token"). */
export class Tokens extends Resource {
  list(query: ListQuery<'tokens.list'> = {}, options?: CallOptions): Pages<ApiToken> {
    return this.pages(query, options, (api, params) => api.GET('/account/tokens', { params }));
  }

  /** `token` in the response is shown only once. */
  create(body: CreateApiToken, options?: CallOptions): Promise<CreatedApiToken> {
    return this.transport.run((api) => api.POST('/account/tokens', { body }), options);
  }

  get(id: string, options?: CallOptions): Promise<ApiToken> {
    return this.transport.run((api) => api.GET('/account/tokens/{id}', byId(id)), options);
  }

  /** Renames the token or narrows its limits, and those of the tokens that it created. */
  update(id: string, body: UpdateApiToken, options?: CallOptions): Promise<ApiToken> {
    return this.transport.run((api) => api.PATCH('/account/tokens/{id}', { ...byId(id), body }), options);
  }

  /** Revokes the token immediately. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this.remove((api) => api.DELETE('/account/tokens/{id}', byId(id)), options);
  }
}

/** SSH keys for new servers (SPEC "SSH key"). Lists omit the key itself. */
export class SshKeys extends Resource {
  list(query: ListQuery<'ssh_keys.list'> = {}, options?: CallOptions): Pages<ListedSshKey> {
    return this.pages(query, options, (api, params) => api.GET('/ssh-keys', { params }));
  }

  create(body: CreateSshKey, options?: CallOptions): Promise<SshKey> {
    return this.transport.run((api) => api.POST('/ssh-keys', { body }), options);
  }

  get(id: string, options?: CallOptions): Promise<SshKey> {
    return this.transport.run((api) => api.GET('/ssh-keys/{id}', byId(id)), options);
  }

  /** Servers that have the key keep it. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this.remove((api) => api.DELETE('/ssh-keys/{id}', byId(id)), options);
  }
}

/** Changes of the last 90 days and their actors (SPEC "Audit event"). */
export class AuditEvents extends Resource {
  list(query: ListQuery<'audit_events.list'> = {}, options?: CallOptions): Pages<AuditEvent> {
    return this.pages(query, options, (api, params) => api.GET('/audit/events', { params }));
  }

  get(id: string, options?: CallOptions): Promise<AuditEvent> {
    return this.transport.run((api) => api.GET('/audit/events/{id}', byId(id)), options);
  }
}

/**
 * Work that takes time, with its progress and the cause of a failure. Wait for one with
 * `skerry.waitForAction(server.action)`.
 */
export class Actions extends Resource {
  list(query: ListQuery<'actions.list'> = {}, options?: CallOptions): Pages<Action> {
    return this.pages(query, options, (api, params) => api.GET('/actions', { params }));
  }

  get(id: string, options?: CallOptions): Promise<Action> {
    return this.transport.run((api) => api.GET('/actions/{id}', byId(id)), options);
  }

  /** Lists the actions of a server, of the last 90 days. */
  ofServer(server: string, query: ListQuery<'actions.of_server'> = {}, options?: CallOptions): Pages<Action> {
    return this.pages(query, options, (api, { query: asked }) =>
      api.GET('/servers/{id}/actions', { params: { path: { id: server }, query: asked } }),
    );
  }
}
