/** The imports between the project's files. */
import { posix } from 'node:path';
import ts from 'typescript';
import type { Tree } from '../support/project-files.ts';

/** One `import`, `export … from`, or `import('…')` of one file, types included. */
export interface ImportEdge {
  readonly from: string;
  readonly line: number;
  /** As written in the source; null if computed. */
  readonly specifier: string | null;
  /** The path that a relative specifier points to, even if it does not exist; null for other specifiers. */
  readonly target: string | null;
}

export function importEdges(files: Tree): ImportEdge[] {
  return [...files].flatMap(([from, text]) => {
    const source = ts.createSourceFile(from, text, ts.ScriptTarget.Latest);
    return importNodes(source).map(({ name, at }) => {
      const specifier = name !== undefined && ts.isStringLiteralLike(name) ? name.text : null;
      const isRelative = specifier !== null && /^\.{1,2}(?:\/|$)/.test(specifier);
      const target = isRelative ? posix.join(posix.dirname(from), specifier) : null;
      return { from, line: source.getLineAndCharacterOfPosition(at.end).line + 1, specifier, target };
    });
  });
}

function importNodes(source: ts.SourceFile): { name: ts.Node | undefined; at: ts.Node }[] {
  const found: { name: ts.Node | undefined; at: ts.Node }[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) found.push({ name: node.moduleSpecifier, at: node });
    if (ts.isExportDeclaration(node) && node.moduleSpecifier)
      found.push({ name: node.moduleSpecifier, at: node });
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      found.push({ name: node.arguments[0], at: node });
    }
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      found.push({ name: node.argument.literal, at: node });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** Formats the location of an edge so that editors and terminals can open it. */
export function formatLocation(edge: ImportEdge): string {
  return `${edge.from}:${edge.line}`;
}
