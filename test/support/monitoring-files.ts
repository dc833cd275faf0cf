import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseYaml } from '../helm/yaml.ts';

const CHART = join(import.meta.dirname, '../../helm/agent-gateway');

export interface Rule {
  alert?: string;
  record?: string;
  expr: string;
  for?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

export interface Panel {
  id: number;
  type: string;
  title: string;
  description?: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: {
    refId: string;
    expr: string;
    legendFormat: string;
    datasource: { uid: string };
  }[];
}

export interface Dashboard {
  uid: string;
  title: string;
  panels: Panel[];
  annotations: { list: { expr: string }[] };
  templating: { list: { name: string; type: string; query: unknown; definition?: string }[] };
}

/** The rules that the chart ships. */
export function readRules(): Rule[] {
  return readGroups().flatMap(({ rules }) => rules);
}

/** Their groups, in the order of the file. */
export function readGroupNames(): string[] {
  return readGroups().map(({ name }) => name);
}

function readGroups(): { name: string; rules: Rule[] }[] {
  const file = parseYaml(readChartFile('files/alerts.yaml'));
  return (file as { groups: { name: string; rules: Rule[] }[] }).groups;
}

/** The dashboard that the chart ships. */
export function readDashboard(): Dashboard {
  return JSON.parse(readChartFile('files/dashboard.json')) as Dashboard;
}

/** A file of the chart, by its path in there. */
export function readChartFile(path: string): string {
  return readFileSync(join(CHART, path), 'utf8');
}
