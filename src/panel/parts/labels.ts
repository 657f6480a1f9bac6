/** Distinguishes resources with the same name: names need not be unique. */
interface Named {
  readonly id: string;
  readonly name: string;
}

/** Returns the label of an item of the list: its name, and its ID if another item has that name. */
export function labelsOf(items: readonly Named[]): (item: Named) => string {
  const idsByName = new Map<string, Set<string>>();
  for (const { id, name } of items) {
    const ids = idsByName.get(name) ?? new Set();
    idsByName.set(name, ids.add(id));
  }
  return ({ id, name }) => ((idsByName.get(name)?.size ?? 0) > 1 ? `${name} (${id})` : name);
}
