import type { Tree } from './chart.ts';

/**
 * A value set to something of its own, and where it must be seen: object (`Kind` or `Kind/name`) and
 * path; `env:NAME` is an environment variable of the gateway.
 */
export type Effect = [value: string, given: unknown, object: string, path: string, seen?: unknown];

/** Values that can be set together, rendered once. */
export interface Scene {
  name: string;
  /** What must be on for these to count. */
  base: Tree;
  effects: Effect[];
}

const POD = 'spec.template.spec';
const GATEWAY = `${POD}.containers.0`;
const OWN_LABELS = {
  'app.kubernetes.io/name': 'agent-gateway',
  'app.kubernetes.io/instance': 'gw',
  'app.kubernetes.io/component': 'gateway',
};
const PEER = [{ namespaceSelector: { matchLabels: { name: 'there' } } }];
const DIGEST = `sha256:${'0'.repeat(64)}`;
const HAPROXY = 'metadata.annotations.haproxy\\.org/';
const SPREAD = { maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' };
const BEHAVIOR = { scaleDown: { stabilizationWindowSeconds: 900 } };

const pod: Scene = {
  name: 'pod',
  base: {},
  effects: [
    ['commonLabels', { team: 'a' }, 'Service/gw-agent-gateway', 'metadata.labels.team', 'a'],
    ['image.repository', 'r.example/x', 'Deployment', `${GATEWAY}.image`, 'r.example/x:v9'],
    ['image.tag', 'v9', 'Pod', 'spec.containers.0.image', 'r.example/x:v9'],
    ['image.pullPolicy', 'Always', 'Deployment', `${GATEWAY}.imagePullPolicy`],
    [
      'tracing.endpoint',
      'http://collector:4318',
      'Deployment',
      'env:OTEL_EXPORTER_OTLP_ENDPOINT',
      'http://collector:4318',
    ],
    ['tracing.sampleRatio', 0.01, 'Deployment', 'env:OTEL_TRACES_SAMPLER_ARG', '0.01'],
    [
      'tracing.resourceAttributes',
      { 'deployment.environment.name': 'a b+c,d=é' },
      'Deployment',
      'env:OTEL_RESOURCE_ATTRIBUTES',
      'service.version=v9,k8s.namespace.name=agents,k8s.deployment.name=gw-agent-gateway,' +
        'k8s.pod.name=$(K8S_POD_NAME),k8s.node.name=$(K8S_NODE_NAME),' +
        'deployment.environment.name=a%20b%2Bc%2Cd%3D%C3%A9',
    ],
    [
      'imagePullSecrets',
      [{ name: 'pull' }],
      'Deployment',
      `${POD}.imagePullSecrets.0`,
      { name: 'pull' },
    ],
    [
      'global.imagePullSecrets',
      ['shared', { name: 'other' }],
      'Pod',
      'spec.imagePullSecrets',
      [{ name: 'pull' }, { name: 'shared' }, { name: 'other' }],
    ],
    ['replicaCount', 5, 'Deployment', 'spec.replicas'],
    ['extraEnv', [{ name: 'MORE', value: 'yes' }], 'Deployment', 'env:MORE', 'yes'],
    ['extraEnvFrom', [{ configMapRef: { name: 'm' } }], 'Deployment', `${GATEWAY}.envFrom`],
    ['extraVolumes', [{ name: 'v', emptyDir: {} }], 'Deployment', `${POD}.volumes.1.name`, 'v'],
    [
      'extraVolumeMounts',
      [{ name: 'v', mountPath: '/v' }],
      'Deployment',
      `${GATEWAY}.volumeMounts.1.mountPath`,
      '/v',
    ],
    ['extraContainers', [{ name: 'side' }], 'Deployment', `${POD}.containers.1.name`, 'side'],
    ['initContainers', [{ name: 'first' }], 'Deployment', `${POD}.initContainers.0.name`, 'first'],
    [
      'extraObjects',
      [
        '{apiVersion: v1, kind: ConfigMap, metadata: {name: "{{ .Release.Name }}-text"}}',
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: '{{ .Release.Name }}-map' } },
      ],
      'ConfigMap/gw-text',
      'metadata.name',
      'gw-text',
    ],
    ['serviceAccount.name', 'sa', 'ServiceAccount', 'metadata.name'],
    ['serviceAccount.annotations', { a: 'b' }, 'ServiceAccount', 'metadata.annotations'],
    ['deploymentAnnotations', { a: 'b' }, 'Deployment', 'metadata.annotations'],
    ['podAnnotations', { a: 'b' }, 'Deployment', 'spec.template.metadata.annotations.a', 'b'],
    ['podLabels', { l: 'm' }, 'Deployment', 'spec.template.metadata.labels.l', 'm'],
    ['podSecurityContext', { fsGroup: 7 }, 'Deployment', `${POD}.securityContext.fsGroup`, 7],
    [
      'containerSecurityContext',
      { privileged: false },
      'Deployment',
      `${GATEWAY}.securityContext.privileged`,
      false,
    ],
    ['resources', { limits: { cpu: '3' } }, 'Deployment', `${GATEWAY}.resources.limits.cpu`, '3'],
    ...(['startup', 'readiness', 'liveness'] as const).flatMap((probe): Effect[] =>
      (['periodSeconds', 'failureThreshold', 'timeoutSeconds'] as const).map((knob, index) => [
        `probes.${probe}.${knob}`,
        41 + index,
        'Deployment',
        `${GATEWAY}.${probe}Probe.${knob}`,
      ]),
    ),
    ['preStopSleepSeconds', 9, 'Deployment', `${GATEWAY}.lifecycle.preStop.sleep.seconds`],
    ['terminationGracePeriodSeconds', 77, 'Deployment', `${POD}.terminationGracePeriodSeconds`],
    ['minReadySeconds', 8, 'Deployment', 'spec.minReadySeconds'],
    ['revisionHistoryLimit', 3, 'Deployment', 'spec.revisionHistoryLimit'],
    [
      'updateStrategy',
      { rollingUpdate: { maxSurge: 4 } },
      'Deployment',
      'spec.strategy.rollingUpdate.maxSurge',
      4,
    ],
    ['nodeSelector', { disk: 'fast' }, 'Deployment', `${POD}.nodeSelector`],
    ['tolerations', [{ operator: 'Exists' }], 'Pod', 'spec.tolerations'],
    ['affinity', { podAffinity: {} }, 'Deployment', `${POD}.affinity`],
    [
      'topologySpreadConstraints',
      [
        { ...SPREAD, topologyKey: 'rack', labelSelector: { matchLabels: { mine: 'yes' } } },
        { ...SPREAD, topologyKey: 'row' },
      ],
      'Deployment',
      `${POD}.topologySpreadConstraints`,
      [
        { ...SPREAD, topologyKey: 'rack', labelSelector: { matchLabels: { mine: 'yes' } } },
        {
          ...SPREAD,
          topologyKey: 'row',
          labelSelector: { matchLabels: OWN_LABELS },
          matchLabelKeys: ['pod-template-hash'],
        },
      ],
    ],
    ['priorityClassName', 'front', 'Deployment', `${POD}.priorityClassName`],
    ['runtimeClassName', 'gvisor', 'Deployment', `${POD}.runtimeClassName`],
    ['dnsPolicy', 'None', 'Deployment', `${POD}.dnsPolicy`],
    ['dnsConfig', { nameservers: ['192.0.2.1'] }, 'Deployment', `${POD}.dnsConfig`],
    ['hostAliases', [{ ip: '192.0.2.2', hostnames: ['h'] }], 'Deployment', `${POD}.hostAliases`],
    ['tests.annotations', { a: 'b' }, 'Pod', 'metadata.annotations.a', 'b'],
    [
      'tests.resources',
      { limits: { memory: '99Mi' } },
      'Pod',
      'spec.containers.0.resources.limits.memory',
      '99Mi',
    ],
    ['pdb.maxUnavailable', '40%', 'PodDisruptionBudget', 'spec.maxUnavailable'],
    [
      'pdb.unhealthyPodEvictionPolicy',
      'IfHealthyBudget',
      'PodDisruptionBudget',
      'spec.unhealthyPodEvictionPolicy',
    ],
  ],
};

const doors: Scene = {
  name: 'services and doors',
  base: { pdb: { maxUnavailable: null } },
  effects: [
    ['nameOverride', 'door', 'Deployment', 'metadata.labels.app\\.kubernetes\\.io/name', 'door'],
    ['fullnameOverride', 'front', 'Deployment', 'metadata.name'],
    [
      'image.digest',
      DIGEST,
      'Deployment',
      `${GATEWAY}.image`,
      `mirror.example:5000/agent-gateway@${DIGEST}`,
    ],
    [
      'global.imageRegistry',
      'mirror.example:5000',
      'Pod',
      'spec.containers.0.image',
      `mirror.example:5000/agent-gateway@${DIGEST}`,
    ],
    ['namespaceOverride', 'elsewhere', 'Deployment', 'metadata.namespace'],
    ['service.type', 'LoadBalancer', 'Service/front', 'spec.type'],
    ['service.port', 8080, 'Service/front', 'spec.ports.0.port'],
    ['service.annotations', { a: 'b' }, 'Service/front', 'metadata.annotations'],
    ['service.nodePort', 30_080, 'Service/front', 'spec.ports.0.nodePort'],
    ['service.loadBalancerClass', 'c', 'Service/front', 'spec.loadBalancerClass'],
    [
      'service.loadBalancerSourceRanges',
      ['192.0.2.0/24'],
      'Service/front',
      'spec.loadBalancerSourceRanges',
    ],
    ['service.externalTrafficPolicy', 'Local', 'Service/front', 'spec.externalTrafficPolicy'],
    ['service.ipFamilyPolicy', 'PreferDualStack', 'Service/front', 'spec.ipFamilyPolicy'],
    ['service.ipFamilies', ['IPv6', 'IPv4'], 'Service/front', 'spec.ipFamilies'],
    ['service.trafficDistribution', 'PreferSameZone', 'Service/front', 'spec.trafficDistribution'],
    ['ingress.enabled', true, 'Ingress/front', 'metadata.name', 'front'],
    ['ingress.className', 'haproxy', 'Ingress/front', 'spec.ingressClassName'],
    ['ingress.preset', 'haproxy', 'Ingress/front', `${HAPROXY}timeout-server`, '1h'],
    [
      'ingress.annotations',
      { 'haproxy.org/pod-maxconn': '60' },
      'Ingress/front',
      `${HAPROXY}pod-maxconn`,
      '60',
    ],
    ['ingress.hosts', ['h.example'], 'Ingress/front', 'spec.rules.0.host', 'h.example'],
    ['ingress.paths', ['/api'], 'Ingress/front', 'spec.rules.0.http.paths.0.path', '/api'],
    ['ingress.tls', [{ secretName: 't' }], 'Ingress/front', 'spec.tls'],
    [
      'ingress.registry.enabled',
      true,
      'Ingress/front-registry',
      'spec.rules.0.http.paths.0.path',
      '/registry',
    ],
    ['ingress.registry.className', 'inner', 'Ingress/front-registry', 'spec.ingressClassName'],
    [
      'ingress.registry.hosts',
      ['i.example'],
      'Ingress/front-registry',
      'spec.rules.0.host',
      'i.example',
    ],
    [
      'ingress.registry.annotations',
      { 'haproxy.org/allow-list': '10.0.0.0/8' },
      'Ingress/front-registry',
      `${HAPROXY}allow-list`,
      '10.0.0.0/8',
    ],
    ['ingress.registry.tls', [{ secretName: 'u' }], 'Ingress/front-registry', 'spec.tls'],
    ['httpRoute.enabled', true, 'HTTPRoute/front', 'spec.rules.0.backendRefs.0.name', 'front'],
    ['httpRoute.annotations', { a: 'b' }, 'HTTPRoute/front', 'metadata.annotations'],
    [
      'httpRoute.preset',
      'envoy-gateway',
      'BackendTrafficPolicy',
      'spec.targetRefs.1.name',
      'front-registry',
    ],
    ['httpRoute.parentRefs', [{ name: 'g' }], 'HTTPRoute/front', 'spec.parentRefs'],
    ['httpRoute.hostnames', ['h.example'], 'HTTPRoute/front', 'spec.hostnames'],
    ['httpRoute.paths', ['/api'], 'HTTPRoute/front', 'spec.rules.0.matches.0.path.value', '/api'],
    [
      'httpRoute.extraRules',
      [{ name: 'r' }],
      'HTTPRoute/front',
      'spec.rules.1.backendRefs.0.name',
      'front',
    ],
    [
      'httpRoute.registry.enabled',
      true,
      'HTTPRoute/front-registry',
      'spec.rules.0.matches',
      [{ path: { type: 'PathPrefix', value: '/registry' } }],
    ],
    [
      'httpRoute.registry.parentRefs',
      [{ name: 'i' }],
      'HTTPRoute/front-registry',
      'spec.parentRefs',
    ],
    ['httpRoute.registry.hostnames', ['i.example'], 'HTTPRoute/front-registry', 'spec.hostnames'],
    [
      'httpRoute.registry.filters',
      [{ type: 'Y' }],
      'HTTPRoute/front-registry',
      'spec.rules.0.filters',
    ],
    [
      'httpRoute.timeouts',
      { request: '90s' },
      'HTTPRoute/front',
      'spec.rules.0.timeouts',
      { request: '90s', backendRequest: '0s' },
    ],
    ['httpRoute.filters', [{ type: 'X' }], 'HTTPRoute/front', 'spec.rules.0.filters'],
    ['pdb.minAvailable', 1, 'PodDisruptionBudget', 'spec.minAvailable'],
  ],
};

const scaled: Scene = {
  name: 'scaled by an HPA',
  // So that as many reads fit.
  base: { settings: { maxOpenReads: 1_000_000 }, resources: { limits: { memory: null } } },
  effects: [
    [
      'autoscaling.enabled',
      true,
      'HorizontalPodAutoscaler',
      'spec.scaleTargetRef.kind',
      'Deployment',
    ],
    ['autoscaling.minReplicas', 3, 'HorizontalPodAutoscaler', 'spec.minReplicas'],
    ['autoscaling.maxReplicas', 30, 'HorizontalPodAutoscaler', 'spec.maxReplicas'],
    ['autoscaling.targetCPUUtilizationPercentage', 61, ...hpaMetric(0, 'resource'), 61],
    ['autoscaling.targetMemoryUtilizationPercentage', 62, ...hpaMetric(1, 'resource'), 62],
    [
      'autoscaling.openReads.enabled',
      true,
      'HorizontalPodAutoscaler',
      'spec.metrics.2.type',
      'Pods',
    ],
    [
      'autoscaling.openReads.metricName',
      'reads',
      'HorizontalPodAutoscaler',
      'spec.metrics.2.pods.metric.name',
    ],
    [
      'autoscaling.openReads.averageValue',
      1_000_000,
      'HorizontalPodAutoscaler',
      'spec.metrics.2.pods.target.averageValue',
      '1000000',
    ],
    [
      'autoscaling.extraMetrics',
      [{ type: 'External' }],
      'HorizontalPodAutoscaler',
      'spec.metrics.3.type',
      'External',
    ],
    [
      'autoscaling.behavior',
      BEHAVIOR,
      'HorizontalPodAutoscaler',
      'spec.behavior.scaleDown.stabilizationWindowSeconds',
      900,
    ],
  ],
};

const keda: Scene = {
  name: 'scaled by KEDA',
  base: {},
  effects: [
    ['keda.enabled', true, 'ScaledObject', 'spec.scaleTargetRef.name', 'gw-agent-gateway'],
    ['keda.minReplicas', 3, 'ScaledObject', 'spec.minReplicaCount'],
    ['keda.maxReplicas', 30, 'ScaledObject', 'spec.maxReplicaCount'],
    ['keda.pollingInterval', 5, 'ScaledObject', 'spec.pollingInterval'],
    ['keda.cooldownPeriod', 60, 'ScaledObject', 'spec.cooldownPeriod'],
    ['keda.fallback', { replicas: 6 }, 'ScaledObject', 'spec.fallback'],
    ['keda.openReads.enabled', true, 'ScaledObject', 'spec.triggers.0.type', 'prometheus'],
    ['keda.openReads.serverAddress', 'http://p:9090', ...trigger('serverAddress')],
    ['keda.openReads.averageValue', 7000, ...trigger('threshold'), '7000'],
    [
      'keda.triggers',
      [{ type: 'cpu', metadata: { value: '50' } }],
      'ScaledObject',
      'spec.triggers.1.type',
      'cpu',
    ],
  ],
};

/** The upstreams in the order of the network policy's rules. */
const UPSTREAMS = ['collector', 'history', 'jwks', 'runtime', 'sync'];

const fenced: Scene = {
  name: 'fenced and watched',
  base: {
    settings: { readTokenJwks: 'https://login.example/keys' },
    tracing: { endpoint: 'http://collector:4318' },
    tests: { enabled: false },
  },
  effects: [
    ['networkPolicy.enabled', true, 'NetworkPolicy', 'spec.policyTypes', ['Ingress', 'Egress']],
    ['networkPolicy.clients', PEER, 'NetworkPolicy', 'spec.ingress.0.from'],
    ['networkPolicy.monitoring', PEER, 'NetworkPolicy', 'spec.ingress.1.from'],
    ['networkPolicy.extraIngress', [{ from: PEER }], 'NetworkPolicy', 'spec.ingress.2.from', PEER],
    ['networkPolicy.dns', PEER, 'NetworkPolicy', 'spec.egress.0.to'],
    ['networkPolicy.dnsPorts', [8053], 'NetworkPolicy', 'spec.egress.0.ports.0.port', 8053],
    ...UPSTREAMS.flatMap((upstream, index): Effect[] => [
      [
        `networkPolicy.upstreams.${upstream}.to`,
        PEER,
        'NetworkPolicy',
        `spec.egress.${index + 1}.to`,
      ],
      [
        `networkPolicy.upstreams.${upstream}.ports`,
        [1000 + index],
        'NetworkPolicy',
        `spec.egress.${index + 1}.ports.0.port`,
        1000 + index,
      ],
    ]),
    ['networkPolicy.extraEgress', [{ to: PEER }], 'NetworkPolicy', 'spec.egress.6.to', PEER],
    ['serviceMonitor.enabled', true, 'ServiceMonitor', 'spec.endpoints.0.port', 'management'],
    ['serviceMonitor.labels', { p: 'q' }, 'ServiceMonitor', 'metadata.labels.p', 'q'],
    ['serviceMonitor.interval', '7s', 'ServiceMonitor', 'spec.endpoints.0.interval'],
    ['serviceMonitor.scrapeTimeout', '6s', 'ServiceMonitor', 'spec.endpoints.0.scrapeTimeout'],
    [
      'serviceMonitor.relabelings',
      [{ action: 'drop' }],
      'ServiceMonitor',
      'spec.endpoints.0.relabelings',
    ],
    [
      'serviceMonitor.metricRelabelings',
      [{ action: 'keep' }],
      'ServiceMonitor',
      'spec.endpoints.0.metricRelabelings',
    ],
    [
      'prometheusRule.enabled',
      true,
      'PrometheusRule',
      'spec.groups.1.rules.0.alert',
      'AgentGatewayDown',
    ],
    ['prometheusRule.labels', { p: 'q' }, 'PrometheusRule', 'metadata.labels.p', 'q'],
    [
      'prometheusRule.alertLabels',
      { severity: 'page' },
      'PrometheusRule',
      'spec.groups.1.rules.0.labels.severity',
      'page',
    ],
    [
      'prometheusRule.disabledAlerts',
      ['AgentGatewayTargetDown'],
      'PrometheusRule',
      'spec.groups.1.rules.1.alert',
      'AgentGatewayRestarting',
    ],
    [
      'prometheusRule.runbookBaseUrl',
      'https://runbooks.example/',
      'PrometheusRule',
      'spec.groups.1.rules.0.annotations.runbook_url',
      'https://runbooks.example/docs/alerts.md#agentgatewaydown',
    ],
    [
      'prometheusRule.extraRules',
      [{ record: 'r', expr: '1' }],
      'PrometheusRule',
      'spec.groups.8.rules.0',
      { record: 'r', expr: '1' },
    ],
    [
      'prometheusRule.extraGroups',
      [{ name: 'g', rules: [] }],
      'PrometheusRule',
      'spec.groups.9.name',
      'g',
    ],
    ['dashboard.enabled', true, 'ConfigMap', 'metadata.name', 'gw-agent-gateway-dashboard'],
    ['dashboard.labels', { p: 'q' }, 'ConfigMap', 'metadata.labels.p', 'q'],
    [
      'dashboard.annotations',
      { folder: 'Agents' },
      'ConfigMap',
      'metadata.annotations.folder',
      'Agents',
    ],
  ],
};

const ownSecret: Scene = {
  name: 'the own Secret',
  base: {},
  effects: [
    inSecret('apiKeys', ['key-0123456789abcdef', 'key-fedcba9876543210'], 'api-keys'),
    inSecret('readTokenSecrets', ['s'.repeat(32), 't'.repeat(32)], 'read-token-secrets'),
    inSecret('runtimeIngressToken', 'ingress', 'runtime-ingress-token'),
    inSecret('runtimeAdminToken', 'admin', 'runtime-admin-token'),
    inSecret('historyToken', 'history', 'history-token'),
    inSecret('syncSecret', 'sync', 'sync-secret'),
  ],
};

const existingSecret: Scene = {
  name: 'a Secret from elsewhere',
  base: { secrets: { apiKeys: [] } },
  effects: [
    ['secrets.existingSecret', 'vault', 'Deployment', `${POD}.volumes.0.secret.secretName`],
    ...(
      [
        ['apiKeys', 'api-keys'],
        ['historyToken', 'history-token'],
        ['readTokenSecrets', 'read-token-secrets'],
        ['runtimeAdminToken', 'runtime-admin-token'],
        ['runtimeIngressToken', 'runtime-ingress-token'],
        ['syncSecret', 'sync-secret'],
      ] as const
    ).map(([holds, path], index): Effect => [
      `secrets.existingKeys.${holds}`,
      `${index}`,
      'Deployment',
      `${POD}.volumes.0.secret.items.${index}`,
      { key: `${index}`, path },
    ]),
  ],
};

export const SCENES = [pod, doors, scaled, keda, fenced, ownSecret, existingSecret];

/** Values that remove something. The test checks that it is absent. */
export const ABSENCES: [value: string, given: unknown, kind: string][] = [
  ['serviceAccount.create', false, 'ServiceAccount'],
  ['pdb.enabled', false, 'PodDisruptionBudget'],
  ['tests.enabled', false, 'Pod'],
];

function trigger(field: string): [string, string] {
  return ['ScaledObject', `spec.triggers.0.metadata.${field}`];
}

function hpaMetric(index: number, kind: string): [string, string] {
  return ['HorizontalPodAutoscaler', `spec.metrics.${index}.${kind}.target.averageUtilization`];
}

/** The Secret holds a list as the gateway reads it from a file: one entry per line. */
function inSecret(value: string, given: string | string[], key: string): Effect {
  const text = Buffer.from([given].flat().join('\n'));
  return [`secrets.${value}`, given, 'Secret', `data.${key}`, text.toString('base64')];
}
