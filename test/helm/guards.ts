import assert from 'node:assert/strict';
import { memoryPlan } from '../../src/contract/memory-plan.ts';
import { minimal, overlay, refusal, render, treeOf, type Tree } from './chart.ts';
import type { Checks } from '../support/checks.ts';
import { documentedValues, schemaOf } from './documented-values.ts';
import { parseYaml } from './yaml.ts';

const HPA = 'autoscaling: {enabled: true';
const KEDA = 'keda: {enabled: true';
const POLICY = 'networkPolicy: {enabled: true, clients: [{podSelector: {}}]';

/** Values, as YAML without its outer braces, and words of the message: what is wrong, in the operator's terms. */
const REFUSED: [values: string, says: RegExp][] = [
  ['enabled: false', /give that dependency `condition: agent-gateway\.enabled`/],
  ['image: {repository: ""}', /image\.repository is required/],
  ...['runtimeIngressUrl', 'runtimeAdminUrl', 'historyUrl', 'syncUrl'].map(
    (setting): [string, RegExp] => [
      `settings: {${setting}: null}`,
      new RegExp(`settings\\.${setting} is required`),
    ],
  ),
  ['secrets: {existingSecret: elsewhere}', /there are two secret sources/],
  ['secrets: {apiKeys: []}', /there is no secret source/],
  ['secrets: {apiKeys: [], syncSecret: secret}', /there are no API keys/],
  [
    'secrets: {apiKeys: [], existingSecret: a, existingKeys: {apiKeys: ""}}',
    /there are no API keys/,
  ],
  // Helm deleted the Secret that the chart had made, in the upgrade that names it.
  [
    'secrets: {apiKeys: [], existingSecret: gw-agent-gateway}',
    /secrets\.existingSecret is gw-agent-gateway, as the chart calls a Secret of its own/,
  ],
  ['settings: {port: 9000, managementPort: 9000}', /must be two ports/],
  ['settings: {host: 127.0.0.1}', /settings\.host is 127\.0\.0\.1, where no probe and no Service/],
  [
    'terminationGracePeriodSeconds: 34, settings: {drainTimeoutMs: 29001}',
    /terminationGracePeriodSeconds is 34, which is shorter .* Make it at least 35/,
  ],

  // Copies.
  [`${HPA}}, ${KEDA}, triggers: [{type: cpu, metadata: {}}]}`, /and keda\.enabled are both on/],
  [`${HPA}, targetCPUUtilizationPercentage: null}`, /autoscaling has nothing to scale on/],
  [`${HPA}, minReplicas: 5, maxReplicas: 4}`, /minReplicas is more than autoscaling\.maxReplicas/],
  [`${KEDA}, minReplicas: 5, maxReplicas: 4}`, /keda\.minReplicas is more than keda\.maxReplicas/],
  [
    `${HPA}, openReads: {enabled: true, metricName: "", averageValue: 10}}`,
    /autoscaling\.openReads needs metricName and averageValue/,
  ],
  [
    `${HPA}}, resources: {requests: {cpu: null}}`,
    /targetCPUUtilizationPercentage is a share of resources\.requests\.cpu/,
  ],
  [
    `${HPA}, targetMemoryUtilizationPercentage: 80}, resources: {requests: {memory: null}}`,
    /targetMemoryUtilizationPercentage is a share of resources\.requests\.memory/,
  ],
  [`${HPA}, behavior: {scaleDown: {policies: [{type: Pod}]}}}`, /at '\/autoscaling\/behavior/],
  [`${HPA}, behavior: {scaleDwon: {}}}`, /additional properties 'scaleDwon' not allowed/],
  [`${KEDA}}`, /keda has nothing to scale on/],
  [`${KEDA}, openReads: {enabled: true}}`, /keda\.openReads needs serverAddress and averageValue/],
  [`${KEDA}, fallback: {replica: 3}}`, /at '\/keda\/fallback'/],
  ...['autoscaling', 'keda'].map((scaler): [string, RegExp] => [
    `${scaler}: {enabled: true, openReads: {enabled: true, averageValue: 11011}}`,
    new RegExp(`${scaler}.openReads.averageValue is 11011, more than the 11010 reads`),
  ]),
  ['pdb: {minAvailable: 1}', /pdb has both maxUnavailable and minAvailable/],
  ['pdb: {maxUnavailable: null}', /pdb needs maxUnavailable or minAvailable/],
  ['pdb: {maxUnavailable: null, minAvailable: 2}', /minAvailable is 2 of 2 copies, which lets no/],
  [
    'pdb: {maxUnavailable: null, minAvailable: 51%}',
    /minAvailable is 51% of 2 copies, which lets no/,
  ],
  ['pdb: {maxUnavailable: 0}', /pdb\.maxUnavailable is 0, which lets no pod go/],
  ['pdb: {maxUnavailable: 0%}', /pdb\.maxUnavailable is 0, which lets no pod go/],

  // What the API server refuses.
  ['dnsPolicy: None', /dnsPolicy None needs dnsConfig/],
  ['resources: {limits: {memory: 1GiB}}', /at '\/resources\/limits\/memory'/],
  [
    'resources: {requests: {cpu: "1.5"}, limits: {cpu: 1400m}}',
    /resources\.requests\.cpu \(1\.5\) is more than resources\.limits\.cpu \(1400m\)/,
  ],
  [
    'tests: {resources: {requests: {memory: 1Gi}}}',
    /tests\.resources\.requests\.memory \(1Gi\) is/,
  ],
  ['podLabels: {team: a b}', /at '\/podLabels\/team'/],
  ['serviceAccount: {name: A_b}', /at '\/serviceAccount\/name'/],
  ['ingress: {hosts: ["https://h.example"]}', /at '\/ingress\/hosts\/0'/],
  ['image: {repository: "registry.example/a:v1"}', /at '\/image\/repository'/],
  ['updateStrategy: {type: Recreate}', /Recreate takes no rollingUpdate/],
  ['updateStrategy: {rollingUpdate: {maxSurge: 0%}}', /has both maxSurge and maxUnavailable at 0/],
  ['updateStrategy: {rollingUpdate: {maxUnavailable: 101%}}', /at '\/updateStrategy/],
  ['service: {nodePort: 30080}', /service\.nodePort needs service\.type NodePort or LoadBalancer/],
  ['service: {externalTrafficPolicy: Local}', /externalTrafficPolicy needs service\.type NodePort/],
  ['service: {loadBalancerClass: a}', /loadBalancerClass needs service\.type LoadBalancer/],
  [
    'service: {loadBalancerSourceRanges: [10.0.0.0/8]}',
    /loadBalancerSourceRanges needs service\.type LoadBalancer/,
  ],
  ['service: {type: NodePort, clusterIP: None}', /clusterIP None needs service\.type ClusterIP/],
  ['service: {clusterIP: none}', /at '\/service\/clusterIP'/],
  ['service: {loadBalancerIP: 192.0.2.1}', /loadBalancerIP needs service\.type LoadBalancer/],
  // The probes of pods with an IPv6 address reached nothing.
  [
    'service: {ipFamilies: [IPv6]}, settings: {host: 0.0.0.0}',
    /ipFamilies has IPv6, and settings\.host is 0\.0\.0\.0, .* Leave it out/,
  ],
  [
    'service: {ipFamilyPolicy: PreferDualStack}, settings: {host: 0.0.0.0}',
    /service\.ipFamilyPolicy is PreferDualStack, and settings\.host is 0\.0\.0\.0/,
  ],
  // The drain needs the chart's own.
  ['lifecycle: {preStop: {sleep: {seconds: 1}}}', /at '\/lifecycle'.*'preStop' not allowed/],
  ['lifecycle: {postStart: {exec: {}}}', /at '\/lifecycle\/postStart\/exec'/],
  ['service: {ipFamilies: [IPv4, IPv6]}', /ipFamilies has two families, which needs/],
  ['extraEnv: [{name: A}, {name: B}, {name: A}]', /extraEnv have A twice/],
  ['extraVolumes: [{name: secrets}]', /extraVolumes, beside the chart's own, have secrets twice/],
  [
    'extraVolumeMounts: [{name: a, mountPath: /etc/agent-gateway/secrets/}]',
    /extraVolumeMounts, .* have \/etc\/agent-gateway\/secrets twice/,
  ],
  ['initContainers: [{name: a}], extraContainers: [{name: a}]', /extraContainers, .* have a twice/],
  ['extraContainers: [{name: gateway}]', /extraContainers, .* have gateway twice/],
  [
    `topologySpreadConstraints: [${'{topologyKey: z, whenUnsatisfiable: DoNotSchedule, maxSkew: 1},'.repeat(2)}]`,
    /topologySpreadConstraints have z with DoNotSchedule twice/,
  ],
  [
    'prometheusRule: {extraGroups: [{name: g}, {name: g}]}',
    /prometheusRule\.extraGroups have g twice/,
  ],
  [
    'secrets: {apiKeys: [key-0123456789abcdef name=a, key-0123456789abcdeg name=a]}',
    /secrets\.apiKeys\[1\] must have a name= of its own/,
  ],
  ['ingress: {hosts: [h.example, h.example]}', /at '\/ingress\/hosts'/],

  // Doors and watchers.
  ['ingress: {enabled: true}', /ingress\.hosts is required/],
  ['httpRoute: {enabled: true}', /httpRoute\.parentRefs is required/],
  ...['ingress', 'httpRoute'].flatMap((door) =>
    ['/', '/registry', '/registry/deployments'].map((path): [string, RegExp] => [
      `${door}: {paths: [${path}]}`,
      new RegExp(`${door}\\.paths has ${path}, which lets /registry in`),
    ]),
  ),
  ['ingress: {preset: nginx}', /at '\/ingress\/preset'/],
  ['networkPolicy: {enabled: true}', /networkPolicy\.clients is required/],
  [`${POLICY}, dns: []}`, /networkPolicy\.dns is required/],
  // Each let everyone in, or the gateway out to everywhere.
  ...['{ports: [{port: 25}]}', '{to: [], ports: [{port: 25}]}', '{to: null}'].map(
    (rule): [string, RegExp] => [
      `${POLICY}, extraEgress: [{to: [{podSelector: {}}]}, ${rule}]}`,
      /networkPolicy\.extraEgress\[1\] has nothing in "to"|at '\/networkPolicy\/extraEgress\/1\/to'/,
    ],
  ),
  ...['{ports: [{port: http}]}', '{from: []}', '{}'].map((rule): [string, RegExp] => [
    `${POLICY}, extraIngress: [${rule}]}`,
    /networkPolicy\.extraIngress\[0\] has nothing in "from", which opens its ports to everyone/,
  ]),
  ...['clients', 'monitoring', 'dns'].map((peers): [string, RegExp] => [
    `networkPolicy: {${peers}: [{}]}`,
    new RegExp(`at '/networkPolicy/${peers}/0'`),
  ]),
  // The targets were down, and nothing said why.
  [
    `${POLICY}}, serviceMonitor: {enabled: true}`,
    /networkPolicy\.monitoring is required where both/,
  ],
  [
    `${POLICY}}, podMonitor: {enabled: true}`,
    /networkPolicy\.monitoring .* and podMonitor\.enabled/,
  ],
  ['prometheusRule: {enabled: true}', /prometheusRule\.enabled needs serviceMonitor\.enabled or/],
  ['serviceMonitor: {enabled: true}, podMonitor: {enabled: true}', /pod would be scraped twice/],

  // What extraEnv changes behind the back of the chart.
  ['extraEnv: [{name: GATEWAY_TENANT, value: other}]', /extraEnv sets GATEWAY_TENANT, which the/],
  [
    'extraEnv: [{name: GATEWAY_MAX_OPEN_READS, value: "9"}]',
    /extraEnv sets GATEWAY_MAX_OPEN_READS/,
  ],
  [
    'settings: {drainTimeoutMs: null}, extraEnv: [{name: GATEWAY_DRAIN_TIMEOUT_MS, value: "600000"}]',
    /settings\.drainTimeoutMs must not be null.*extraEnv sets GATEWAY_DRAIN_TIMEOUT_MS/s,
  ],
  [
    'podLabels: {app.kubernetes.io/instance: other}',
    /podLabels or commonLabels sets app\.kubernetes\.io\/instance/,
  ],

  // Memory.
  [
    'settings: {maxConnections: 40000}',
    /settings\.maxConnections is 40000, of which at most 36700/,
  ],
  [
    'settings: {maxConnections: 1000, maxOpenReads: 1001}',
    /settings\.maxOpenReads is 1001, more than settings\.maxConnections \(1000\)/,
  ],
  [
    'resources: {requests: {memory: 64Mi}, limits: {memory: 128Mi}}',
    /resources\.limits\.memory is 128Mi, of which the gateway takes 128 MiB/,
  ],
  [
    'resources: {requests: {memory: 2Gi}}',
    /resources\.requests\.memory \(2Gi\) is more than resources\.limits\.memory \(1Gi\)/,
  ],
  [
    'extraEnv: [{name: NODE_OPTIONS, value: --max-old-space-size=1024}]',
    /a heap of 1024 MiB in NODE_OPTIONS, which does not fit/,
  ],

  // Slips.
  ['replicaCuont: 3', /additional properties 'replicaCuont' not allowed/],
  ['resources: {limit: {memory: 1Gi}}', /at '\/resources': additional properties 'limit' not/],
  ['resources: {limits: {memroy: 1Gi}}', /at '\/resources\/limits': additional .* 'memroy' not/],
  ['updateStrategy: {rollingUpdate: {maxSurg: 1}}', /at '\/updateStrategy/],
  ['podSecurityContext: {runAsNonroot: true}', /additional properties 'runAsNonroot' not allowed/],
  ['containerSecurityContext: {capabilities: {dropp: [ALL]}}', /at '\/containerSecurityContext/],
  ...[
    ['affinity: {podAntiAfinity: {}}', '/affinity'],
    [
      'affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologykey: a}}]}}',
      '/affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution/0/podAffinityTerm',
    ],
    [
      'affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpression: []}]}}}',
      '/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0',
    ],
    ['tolerations: [{key: a, efect: NoSchedule}]', '/tolerations/0'],
    ['tolerations: [{key: a, effect: NoExec}]', '/tolerations/0/effect'],
    ['hostAliases: [{ip: 192.0.2.1, hostname: [a]}]', '/hostAliases/0'],
    ['dnsConfig: {nameserver: [192.0.2.1]}', '/dnsConfig'],
    ['dnsConfig: {options: [{name: ndots, valu: "2"}]}', '/dnsConfig/options/0'],
    ['ingress: {tls: [{secretname: t}]}', '/ingress/tls/0'],
    ['ingress: {registry: {tls: [{host: [h]}]}}', '/ingress/registry/tls/0'],
    ['networkPolicy: {clients: [{namespaceSelectr: {}}]}', '/networkPolicy/clients/0'],
  ].map(([values = '', where]): [string, RegExp] => [values, new RegExp(`at '${where}'`)]),
  [
    'settings: {maxBodyByte: 1}',
    /at '\/settings': additional properties 'maxBodyByte' not allowed/,
  ],
  ['settings: {maxBodyBytes: 1 MiB}', /at '\/settings\/maxBodyBytes'/],
  ['settings: {syncUrl: "electric:3000"}', /at '\/settings\/syncUrl'/],
  ['settings: {port: 80}', /at '\/settings\/port'/],
  ['settings: {managementPort: 0}', /at '\/settings\/managementPort'/],
];

/** Credentials that the message must not contain. */
const REFUSED_CREDENTIALS: [secrets: string, says: RegExp][] = [
  ['apiKeys: [sesame-0]', /'\/secrets\/apiKeys\/0'/],
  ['readTokenSecrets: [sesame]', /'\/secrets\/readTokenSecrets\/0'/],
  [
    'readTokenSecrets: ["# sesame, the secret of all the read tokens"]',
    /secrets\.readTokenSecrets\[0\] must be one line/,
  ],
  [
    'readTokenSecrets: ["sesame-sesame-sesame\\nsesame-sesame-sesame"]',
    /secrets\.readTokenSecrets\[0\] must be/,
  ],
  ['runtimeIngressToken: sesame sesame', /secrets\.runtimeIngressToken must be/],
  // One for both ports: it went into Restate's journal, and opened the admin API.
  ['runtimeToken: sesame-sesame', /secrets.*'runtimeToken' not allowed/s],
];

export async function checkGuards(checks: Checks): Promise<void> {
  const withValues = (text: string): Tree => minimal(parseYaml(`{${text}}`) as Tree);
  for (const [values, says] of REFUSED) {
    await checks.check(`refuses to render ${values}`, () => {
      assert.match(refusal(withValues(values)), says);
    });
  }
  for (const [secrets, says] of REFUSED_CREDENTIALS) {
    await checks.check(`refuses to render ${secrets}, without repeating it`, () => {
      const message = refusal(withValues(`secrets: {${secrets}}`));
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
        minimal({
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
  // `probes: null` was an error of the template, `replicaCount: null` one copy.
  await checks.check('renders null for a value, or refuses it by its name', () => {
    const values = documentedValues();
    const groups = values.flatMap((path) =>
      path.split('.').map((_, end, all) => all.slice(0, end).join('.')),
    );
    const paths = [...new Set([...values, ...groups])].filter(Boolean);
    const required = paths.filter(isRequired);
    // None of those at one depth holds another, and the schema names all of them at once.
    const byDepth = Map.groupBy(required, (path) => path.split('.').length);
    for (const nulls of byDepth.values()) {
      const message = refusal(withNull(...nulls));
      for (const path of nulls) {
        const [, above, key] = /^(?:(.*)\.)?(\w+)$/.exec(path) ?? [];
        const place = above === undefined ? '' : `/${above.replaceAll('.', '/')}`;
        assert.match(message, new RegExp(`at '${place}': missing propert.*'${key}'`), path);
      }
    }
    for (const path of paths.filter((one) => !required.includes(one))) {
      try {
        render(withNull(path));
      } catch (error) {
        const { message } = error as Error;
        assert.doesNotMatch(message, /template: |YAML parse error/, path);
        assert.ok(message.includes(path.split('.').at(-1) ?? ''), `${path}: ${message}`);
      }
    }
  });
}

function withNull(...paths: string[]): Tree {
  return paths.reduce((tree, path) => overlay(tree, treeOf(path, null)), minimal());
}

/** Whether the schema requires the value. */
function isRequired(path: string): boolean {
  const keys = path.split('.');
  const last = keys.pop() ?? '';
  return schemaOf(keys)?.required?.includes(last) ?? false;
}
