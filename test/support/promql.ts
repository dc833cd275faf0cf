import { parser } from '@prometheus-io/lezer-promql';
import type { SyntaxNode } from '@lezer/common';

export interface Matcher {
  label: string;
  operator: '=' | '!=' | '=~' | '!~';
  value: string;
}

/** One selection of series in a query. */
export interface Selector {
  metric: string;
  matchers: Matcher[];
}

export interface Query {
  selectors: Selector[];
  /** The labels that it groups by or joins on. */
  grouping: string[];
}

/**
 * What a query of PromQL asks for, read with Prometheus' own grammar. Grafana's variables in place of a
 * time are taken for five minutes. Throws where it is no PromQL.
 */
export function parseQuery(text: string): Query {
  const query = text.replaceAll(/\$__(?:rate_interval|interval|range)\b/g, '5m');
  const selectors: Selector[] = [];
  const grouping: string[] = [];
  parser.parse(query).iterate({
    enter: ({ type, node }) => {
      if (type.isError) throw new Error(`no PromQL: ${text}`);
      if (type.name === 'VectorSelector') selectors.push(selectorOf(node, query));
      if (type.name === 'GroupingLabels') {
        grouping.push(...node.getChildren('LabelName').map((label) => textOf(label, query)));
      }
    },
  });
  return { selectors, grouping };
}

/** Whether the selector matches these labels. Matchers of labels in `ignored` always match. */
export function selects(
  { matchers }: Selector,
  labels: Readonly<Record<string, string>>,
  ignored: ReadonlySet<string>,
): boolean {
  return matchers.every(({ label, operator, value }) => {
    if (ignored.has(label)) return true;
    const actual = labels[label] ?? '';
    const isMet = operator.includes('~')
      ? new RegExp(`^(?:${value})$`).test(actual)
      : actual === value;
    return isMet !== operator.startsWith('!');
  });
}

function selectorOf(node: SyntaxNode, query: string): Selector {
  const name = node.getChild('Identifier');
  if (!name) throw new Error(`a selector without a name: ${textOf(node, query)}`);
  const matchers = node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? [];
  return {
    metric: textOf(name, query),
    matchers: matchers.map((matcher) => ({
      label: childText(matcher, 'LabelName', query),
      operator: childText(matcher, 'MatchOp', query) as Matcher['operator'],
      value: JSON.parse(childText(matcher, 'StringLiteral', query)) as string,
    })),
  };
}

function childText(node: SyntaxNode, name: string, query: string): string {
  const child = node.getChild(name);
  if (!child) throw new Error(`no ${name} in ${textOf(node, query)}`);
  return textOf(child, query);
}

function textOf({ from, to }: SyntaxNode, query: string): string {
  return query.slice(from, to);
}
