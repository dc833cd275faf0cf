import assert from 'node:assert/strict';
import { memoryPlan } from '../../src/memory/memory-plan.ts';
import { ciValues, overlay, refusal, render, type Tree } from './chart.ts';
import type { Checks } from '../support/checks.ts';

const SOUND = ciValues('minimal-values.yaml');

interface Refused {
  when: string;
  values: Tree;
  /** Words of the message: what is wrong, in the operator's terms. */
  says: RegExp;
}

const REFUSED: Refused[] = [
  {
    when: 'the image has no repository',
    values: { image: { repository: '' } },
    says: /image\.repository is required/,
  },
  ...['runtimeIngressUrl', 'runtimeAdminUrl', 'historyUrl', 'syncUrl'].map((setting) => ({
    when: `settings.${setting} is missing`,
    values: { settings: { [setting]: null } },
    says: new RegExp(`settings\\.${setting} is required`),
  })),
  {
    when: 'there are two secret sources',
    values: { secrets: { existingSecret: 'elsewhere' } },
    says: /there are two secret sources/,
  },
  {
    when: 'there is no secret source',
    values: { secrets: { apiKeys: [] } },
    says: /there is no secret source/,
  },
  {
    when: 'the own Secret has no API keys',
    values: { secrets: { apiKeys: [], syncSecret: 'secret' } },
    says: /there are no API keys/,
  },
  {
    when: 'the existing Secret has no API keys',
    values: {
      secrets: { apiKeys: [], existingSecret: 'elsewhere', existingKeys: { apiKeys: '' } },
    },
    says: /there are no API keys/,
  },
  {
    when: 'the two ports are one',
    values: { settings: { port: 9000, managementPort: 9000 } },
    says: /must be two ports/,
  },
  {
    when: 'the grace is shorter than preStop and drain together',
    values: { terminationGracePeriodSeconds: 34, settings: { drainTimeoutMs: 29_001 } },
    says: /terminationGracePeriodSeconds is 34, which is shorter .* Make it at least 35/,
  },
  {
    when: 'HPA and KEDA are both on',
    values: {
      autoscaling: { enabled: true },
      keda: { enabled: true, triggers: [{ type: 'cpu', metadata: {} }] },
    },
    says: /autoscaling\.enabled and keda\.enabled are both on/,
  },
  {
    when: 'the HPA has nothing to scale on',
    values: { autoscaling: { enabled: true, targetCPUUtilizationPercentage: null } },
    says: /autoscaling has nothing to scale on/,
  },
  ...(['autoscaling', 'keda'] as const).map((scaler) => ({
    when: `${scaler} has more fewest than most copies`,
    values: { [scaler]: { enabled: true, minReplicas: 5, maxReplicas: 4 } },
    says: new RegExp(`${scaler}\\.minReplicas is more than ${scaler}\\.maxReplicas`),
  })),
  {
    when: 'the HPA scales on open reads of no name',
    values: {
      autoscaling: {
        enabled: true,
        openReads: { enabled: true, metricName: '', averageValue: 10 },
      },
    },
    says: /autoscaling\.openReads needs metricName and averageValue/,
  },
  {
    when: 'the HPA scales on a share of no CPU',
    values: { autoscaling: { enabled: true }, resources: { requests: { cpu: null } } },
    says: /targetCPUUtilizationPercentage is a share of resources\.requests\.cpu/,
  },
  {
    when: 'the HPA scales on a share of no memory',
    values: {
      autoscaling: { enabled: true, targetMemoryUtilizationPercentage: 80 },
      resources: { requests: { memory: null } },
    },
    says: /targetMemoryUtilizationPercentage is a share of resources\.requests\.memory/,
  },
  {
    when: 'KEDA has no triggers',
    values: { keda: { enabled: true } },
    says: /keda\.triggers is required/,
  },
  {
    when: 'the PDB says both',
    values: { pdb: { minAvailable: 1 } },
    says: /pdb has both maxUnavailable and minAvailable/,
  },
  {
    when: 'the PDB says neither',
    values: { pdb: { maxUnavailable: null } },
    says: /pdb needs maxUnavailable or minAvailable/,
  },
  {
    when: 'the Ingress has no hosts',
    values: { ingress: { enabled: true } },
    says: /ingress\.hosts is required/,
  },
  {
    when: 'the HTTPRoute has no Gateway',
    values: { httpRoute: { enabled: true } },
    says: /httpRoute\.parentRefs is required/,
  },
  {
    when: 'the NetworkPolicy lets nobody in',
    values: { networkPolicy: { enabled: true } },
    says: /networkPolicy\.clients is required/,
  },
  {
    when: 'the NetworkPolicy has no DNS',
    values: { networkPolicy: { enabled: true, clients: [{ podSelector: {} }], dns: [] } },
    says: /networkPolicy\.dns is required/,
  },
  {
    when: 'there are alerts without targets',
    values: { prometheusRule: { enabled: true } },
    says: /prometheusRule\.enabled needs serviceMonitor\.enabled/,
  },
  {
    when: 'extraEnv sets what the chart sets',
    values: { extraEnv: [{ name: 'GATEWAY_TENANT', value: 'other' }] },
    says: /extraEnv sets GATEWAY_TENANT, which the chart sets itself/,
  },
  {
    when: 'a label of the pods is one of the selector',
    values: { podLabels: { 'app.kubernetes.io/instance': 'other' } },
    says: /podLabels or commonLabels sets app\.kubernetes\.io\/instance/,
  },
  {
    when: 'a PDB keeps every copy',
    values: { pdb: { maxUnavailable: null, minAvailable: 2 } },
    says: /pdb\.minAvailable is 2 of 2 copies, which lets no pod go/,
  },
  {
    when: 'a PDB keeps a share that is every copy',
    values: { pdb: { maxUnavailable: null, minAvailable: '51%' } },
    says: /pdb\.minAvailable is 51% of 2 copies, which lets no pod go/,
  },
  ...[0, '0%'].map((maxUnavailable) => ({
    when: `a PDB lets ${maxUnavailable} copies go`,
    values: { pdb: { maxUnavailable } },
    says: /pdb\.maxUnavailable is 0, which lets no pod go/,
  })),
  {
    when: 'no probe reaches the host',
    values: { settings: { host: '127.0.0.1' } },
    says: /settings\.host is 127\.0\.0\.1, where no probe and no Service reaches the gateway/,
  },
  {
    when: 'extraEnv changes the drain behind the back of the grace period',
    values: {
      settings: { drainTimeoutMs: null },
      extraEnv: [{ name: 'GATEWAY_DRAIN_TIMEOUT_MS', value: '600000' }],
    },
    says: /settings\.drainTimeoutMs must not be null.*extraEnv sets GATEWAY_DRAIN_TIMEOUT_MS/s,
  },
  {
    when: 'extraEnv sets a cap behind the back of the memory',
    values: { extraEnv: [{ name: 'GATEWAY_MAX_OPEN_READS', value: '90000' }] },
    says: /extraEnv sets GATEWAY_MAX_OPEN_READS, which the chart sets itself/,
  },
  {
    when: 'connections do not fit into the memory',
    values: { settings: { maxConnections: 40_000 } },
    says: /settings\.maxConnections is 40000, of which at most 36700 fit/,
  },
  {
    when: 'there are more reads than connections',
    values: { settings: { maxConnections: 1_000, maxOpenReads: 1_001 } },
    says: /settings\.maxOpenReads is 1001, more than settings\.maxConnections \(1000\)/,
  },
  {
    when: 'the memory is too small for the gateway alone',
    values: { resources: { requests: { memory: '64Mi' }, limits: { memory: '128Mi' } } },
    says: /resources\.limits\.memory is 128Mi, of which the gateway takes 128 MiB/,
  },
  {
    when: 'more memory is requested than there may be',
    values: { resources: { requests: { memory: '2Gi' } } },
    says: /resources\.requests\.memory \(2Gi\) is more than resources\.limits\.memory \(1Gi\)/,
  },
  {
    when: 'Node gets a heap that is larger than the memory',
    values: { extraEnv: [{ name: 'NODE_OPTIONS', value: '--max-old-space-size=1024' }] },
    says: /a heap of 1024 MiB in NODE_OPTIONS, which does not fit/,
  },
  {
    when: 'the HPA aims at more reads than a pod takes',
    values: {
      autoscaling: { enabled: true, openReads: { enabled: true, averageValue: 11_011 } },
    },
    says: /averageValue is 11011, more than the 11010 reads that a pod takes/,
  },
  ...['ingress', 'httpRoute'].flatMap((door) =>
    ['/', '/registry', '/registry/deployments'].map((path) => ({
      when: `${door} has the path ${path}`,
      values: { [door]: { paths: [path] } },
      says: new RegExp(`${door}\\.paths has ${path}, which lets /registry in`),
    })),
  ),
  {
    when: 'limits are misspelled',
    values: { resources: { limit: { memory: '1Gi' } } },
    says: /at '\/resources': additional properties 'limit' not allowed/,
  },
  {
    when: 'a resource is misspelled',
    values: { resources: { limits: { memroy: '1Gi' } } },
    says: /at '\/resources\/limits': additional properties 'memroy' not allowed/,
  },
  {
    when: 'the strategy is misspelled',
    values: { updateStrategy: { rollingUpdate: { maxSurg: 1 } } },
    says: /at '\/updateStrategy/,
  },
  {
    when: 'a security context is misspelled',
    values: { podSecurityContext: { runAsNonroot: true } },
    says: /at '\/podSecurityContext': additional properties 'runAsNonroot' not allowed/,
  },
  {
    when: 'a container’s security context is misspelled',
    values: { containerSecurityContext: { capabilities: { dropp: ['ALL'] } } },
    says: /at '\/containerSecurityContext/,
  },
  {
    when: 'the preset is that of the retired ingress-nginx',
    values: { ingress: { preset: 'nginx' } },
    says: /at '\/ingress\/preset'/,
  },
  {
    when: 'a value is misspelled',
    values: { replicaCuont: 3 },
    says: /additional properties 'replicaCuont' not allowed/,
  },
  {
    when: 'a setting is misspelled',
    values: { settings: { maxBodyByte: 1 } },
    says: /at '\/settings': additional properties 'maxBodyByte' not allowed/,
  },
  {
    when: 'a setting is of another type',
    values: { settings: { maxBodyBytes: '1 MiB' } },
    says: /at '\/settings\/maxBodyBytes'/,
  },
  {
    when: 'an upstream is no URL',
    values: { settings: { syncUrl: 'electric:3000' } },
    says: /at '\/settings\/syncUrl'/,
  },
  {
    when: 'a port is one that only root may listen on',
    values: { settings: { port: 80 } },
    says: /at '\/settings\/port'/,
  },
  {
    when: 'the management port is off',
    values: { settings: { managementPort: 0 } },
    says: /at '\/settings\/managementPort'/,
  },
];

/** Credentials that the message must not contain. */
const REFUSED_CREDENTIALS: [string, Tree, RegExp][] = [
  ['an API key is short', { apiKeys: ['sesame-0'] }, /'\/secrets\/apiKeys\/0'/],
  [
    'a read token secret is a comment',
    { readTokenSecrets: ['# sesame, the secret of all the read tokens'] },
    /secrets\.readTokenSecrets\[0\] must be one line/,
  ],
  [
    'a read token secret is short',
    { readTokenSecrets: ['sesame'] },
    /'\/secrets\/readTokenSecrets\/0'/,
  ],
  [
    'a read token secret has two lines',
    { readTokenSecrets: ['sesame-sesame-sesame\nsesame-sesame-sesame'] },
    /secrets\.readTokenSecrets\[0\] must be/,
  ],
  [
    'a token has spaces',
    { runtimeIngressToken: 'sesame sesame' },
    /secrets\.runtimeIngressToken must be/,
  ],
  // One for both ports: it went into Restate's journal, and opened the admin API.
  [
    'the former credential of the whole runtime is given',
    { runtimeToken: 'sesame-sesame' },
    /secrets.*'runtimeToken' not allowed/s,
  ],
];

export async function checkGuards(checks: Checks): Promise<void> {
  for (const { when, values, says } of REFUSED) {
    await checks.check(`refuses to render where ${when}`, () => {
      assert.match(refusal(overlay(SOUND, values)), says);
    });
  }
  for (const [when, secrets, says] of REFUSED_CREDENTIALS) {
    await checks.check(`refuses to render where ${when}, without repeating it`, () => {
      const message = refusal(overlay(SOUND, { secrets }));
      assert.match(message, says);
      assert.doesNotMatch(message, /sesame|5e5a/);
    });
  }
  await checks.check('refuses a cap of open reads that does not fit into the memory', () => {
    for (const [memory, bytes] of [
      ['1Gi', 2 ** 30],
      ['1536Mi', 1.5 * 2 ** 30],
      ['2G', 2e9],
      ['0.5G', 5e8],
      [2 ** 31, 2 ** 31],
    ] as const) {
      // What the gateway takes by itself is 60 % of what fits.
      const fits = Math.floor(memoryPlan(bytes, Number.MAX_SAFE_INTEGER).maxOpenReads / 0.6);
      const withCap = (maxOpenReads: number): Tree =>
        overlay(SOUND, {
          settings: { maxOpenReads },
          resources: { requests: { memory: null }, limits: { memory } },
        });
      assert.match(refusal(withCap(fits + 3)), /settings\.maxOpenReads is \d+, of which at most/);
      render(withCap(fits - 3));
    }
  });
  await checks.check('names every problem at once', () => {
    const message = refusal({});
    assert.equal(message.match(/^ {2}- /gm)?.length, 6, message);
  });
}
