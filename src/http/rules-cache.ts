/**
 * Caches the operator's windows and policies in this process, and reloads them when their version changes.
 */
import type { Service } from '../domain/context.ts';
import { loadRules, type Rules, readCurrentRulesVersion } from '../domain/rules/rules.ts';

export class RulesCache {
  readonly #service: Service;
  #rules: Rules | null = null;

  constructor(service: Service) {
    this.#service = service;
  }

  /** `version` is the current one, if the caller has just read it. Otherwise this method reads it. */
  async read(version?: bigint): Promise<Rules> {
    const currentVersion = version ?? (await readCurrentRulesVersion(this.#service));
    if (this.#rules?.version !== currentVersion) this.#rules = await loadRules(this.#service);
    return this.#rules;
  }
}
