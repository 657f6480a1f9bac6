/** Token scopes, each strictly broader than the one before it (SPEC "Authentication", surface B). */
export const SCOPES = ['read', 'write', 'billing'] as const;
export type Scope = (typeof SCOPES)[number];

export function isScope(word: string): word is Scope {
  return (SCOPES as readonly string[]).includes(word);
}

/** Whether a token with the scope `granted` may run an operation that needs `required`. */
export function scopeCovers(granted: Scope, required: Scope): boolean {
  return SCOPES.indexOf(granted) >= SCOPES.indexOf(required);
}
