import type { Tree } from './chart.ts';

/** A value set to something of its own, and the path where it is seen; `env:NAME` is a variable of the gateway. */
export type Effect = [value: string, given: unknown, path: string, seen?: unknown];

/** Values that can be set together, rendered once. */
interface Scene {
  name: string;
  /** What must be on for these to count. */
  base: Tree;
  /** By the object, `Kind` or `Kind/name`, in which they are seen. */
  effects: Record<string, Effect[]>;
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
const ROW = { maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', topologyKey: 'row' };
const RACK = { ...ROW, topologyKey: 'rack', labelSelector: { matchLabels: { mine: 'yes' } } };
/** The keys of a Secret, in the order of the mounted files. */
const SECRET_KEYS = {
  apiKeys: 'api-keys',
  historyToken: 'history-token',
  readTokenSecrets: 'read-token-secrets',
  runtimeAdminToken: 'runtime-admin-token',
  runtimeIngressToken: 'runtime-ingress-token',
  syncSecret: 'sync-secret',
};

function inSecret(value: keyof typeof SECRET_KEYS, ...entries: string[]): Effect {
  const text = Buffer.from(entries.join('\n')).toString('base64');
  return [
    `secrets.${value}`,
    entries.length > 1 ? entries : entries[0],
    `data.${SECRET_KEYS[value]}`,
    text,
  ];
}

export const SCENES: Scene[] = [
  {
    name: 'pod',
    base: {},
    effects: {
      'Service/gw-agent-gateway': [['commonLabels', { team: 'a' }, 'metadata.labels.team', 'a']],
      Deployment: [
        ['image.repository', 'r.example/x', `${GATEWAY}.image`, 'r.example/x:v9'],
        ['image.pullPolicy', 'Always', `${GATEWAY}.imagePullPolicy`],
        [
          'tracing.endpoint',
          'http://collector:4318',
          'env:OTEL_EXPORTER_OTLP_ENDPOINT',
          'http://collector:4318',
        ],
        ['tracing.sampleRatio', 0.01, 'env:OTEL_TRACES_SAMPLER_ARG', '0.01'],
        [
          'tracing.resourceAttributes',
          { 'deployment.environment.name': 'a b+c,d=é' },
          'env:OTEL_RESOURCE_ATTRIBUTES',
          'service.version=v9,k8s.namespace.name=agents,k8s.deployment.name=gw-agent-gateway,' +
            'k8s.pod.name=$(K8S_POD_NAME),k8s.node.name=$(K8S_NODE_NAME),' +
            'deployment.environment.name=a%20b%2Bc%2Cd%3D%C3%A9',
        ],
        ['imagePullSecrets', [{ name: 'pull' }], `${POD}.imagePullSecrets.0`, { name: 'pull' }],
        ['replicaCount', 5, 'spec.replicas'],
        ['extraEnv', [{ name: 'MORE', value: 'yes' }], 'env:MORE', 'yes'],
        ['extraEnvFrom', [{ configMapRef: { name: 'm' } }], `${GATEWAY}.envFrom`],
        ['extraVolumes', [{ name: 'v', emptyDir: {} }], `${POD}.volumes.1.name`, 'v'],
        [
          'extraVolumeMounts',
          [{ name: 'v', mountPath: '/v' }],
          `${GATEWAY}.volumeMounts.1.mountPath`,
          '/v',
        ],
        ['extraContainers', [{ name: 'side' }], `${POD}.containers.1.name`, 'side'],
        ['initContainers', [{ name: 'first' }], `${POD}.initContainers.0.name`, 'first'],
        ['deploymentAnnotations', { a: 'b' }, 'metadata.annotations'],
        ['podAnnotations', { a: 'b' }, 'spec.template.metadata.annotations.a', 'b'],
        ['podLabels', { l: 'm' }, 'spec.template.metadata.labels.l', 'm'],
        ['podSecurityContext', { fsGroup: 7 }, `${POD}.securityContext.fsGroup`, 7],
        [
          'containerSecurityContext',
          { privileged: false },
          `${GATEWAY}.securityContext.privileged`,
          false,
        ],
        ['resources', { limits: { cpu: '3' } }, `${GATEWAY}.resources.limits.cpu`, '3'],
        ...['startup', 'readiness', 'liveness'].flatMap((probe): Effect[] =>
          ['periodSeconds', 'failureThreshold', 'timeoutSeconds'].map((knob, index) => [
            `probes.${probe}.${knob}`,
            41 + index,
            `${GATEWAY}.${probe}Probe.${knob}`,
          ]),
        ),
        ['preStopSleepSeconds', 9, `${GATEWAY}.lifecycle.preStop.sleep.seconds`],
        [
          'lifecycle',
          { postStart: { exec: { command: ['true'] } } },
          `${GATEWAY}.lifecycle`,
          { postStart: { exec: { command: ['true'] } }, preStop: { sleep: { seconds: 9 } } },
        ],
        ['shareProcessNamespace', false, `${POD}.shareProcessNamespace`],
        ['hostUsers', false, `${POD}.hostUsers`],
        ['terminationGracePeriodSeconds', 77, `${POD}.terminationGracePeriodSeconds`],
        ['minReadySeconds', 8, 'spec.minReadySeconds'],
        ['revisionHistoryLimit', 3, 'spec.revisionHistoryLimit'],
        [
          'updateStrategy',
          { rollingUpdate: { maxSurge: 4 } },
          'spec.strategy.rollingUpdate.maxSurge',
          4,
        ],
        ['nodeSelector', { disk: 'fast' }, `${POD}.nodeSelector`],
        ['affinity', { podAffinity: {} }, `${POD}.affinity`],
        [
          'topologySpreadConstraints',
          [RACK, ROW],
          `${POD}.topologySpreadConstraints`,
          [
            RACK,
            {
              ...ROW,
              labelSelector: { matchLabels: OWN_LABELS },
              matchLabelKeys: ['pod-template-hash'],
            },
          ],
        ],
        ['priorityClassName', 'front', `${POD}.priorityClassName`],
        ['runtimeClassName', 'gvisor', `${POD}.runtimeClassName`],
        ['dnsPolicy', 'None', `${POD}.dnsPolicy`],
        ['dnsConfig', { nameservers: ['192.0.2.1'] }, `${POD}.dnsConfig`],
        ['hostAliases', [{ ip: '192.0.2.2', hostnames: ['h'] }], `${POD}.hostAliases`],
      ],
      Pod: [
        ['image.tag', 'v9', 'spec.containers.0.image', 'r.example/x:v9'],
        [
          'global.imagePullSecrets',
          ['shared', { name: 'other' }],
          'spec.imagePullSecrets',
          [{ name: 'pull' }, { name: 'shared' }, { name: 'other' }],
        ],
        ['tolerations', [{ operator: 'Exists' }], 'spec.tolerations'],
        ['tests.annotations', { a: 'b' }, 'metadata.annotations.a', 'b'],
        [
          'tests.resources',
          { limits: { memory: '99Mi' } },
          'spec.containers.0.resources.limits.memory',
          '99Mi',
        ],
      ],
      'ConfigMap/gw-text': [
        [
          'extraObjects',
          [
            '{apiVersion: v1, kind: ConfigMap, metadata: {name: "{{ .Release.Name }}-text"}}',
            { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: '{{ .Release.Name }}-map' } },
          ],
          'metadata.name',
          'gw-text',
        ],
      ],
      ServiceAccount: [
        ['serviceAccount.name', 'sa', 'metadata.name'],
        ['serviceAccount.annotations', { a: 'b' }, 'metadata.annotations'],
        ['serviceAccount.labels', { p: 'q' }, 'metadata.labels.p', 'q'],
      ],
      PodDisruptionBudget: [
        ['pdb.maxUnavailable', '40%', 'spec.maxUnavailable'],
        ['pdb.unhealthyPodEvictionPolicy', 'IfHealthyBudget', 'spec.unhealthyPodEvictionPolicy'],
      ],
    },
  },
  {
    name: 'services and doors',
    base: { pdb: { maxUnavailable: null }, settings: { host: '::' } },
    effects: {
      Deployment: [
        ['nameOverride', 'door', 'metadata.labels.app\\.kubernetes\\.io/name', 'door'],
        ['fullnameOverride', 'front', 'metadata.name'],
        ['image.digest', DIGEST, `${GATEWAY}.image`, `mirror.example:5000/agent-gateway@${DIGEST}`],
        ['namespaceOverride', 'elsewhere', 'metadata.namespace'],
      ],
      Pod: [
        [
          'global.imageRegistry',
          'mirror.example:5000',
          'spec.containers.0.image',
          `mirror.example:5000/agent-gateway@${DIGEST}`,
        ],
      ],
      'Service/front': [
        ['service.type', 'LoadBalancer', 'spec.type'],
        ['service.port', 8080, 'spec.ports.0.port'],
        ['service.annotations', { a: 'b' }, 'metadata.annotations'],
        ['service.labels', { p: 'q' }, 'metadata.labels.p', 'q'],
        ['service.clusterIP', '10.0.0.9', 'spec.clusterIP'],
        ['service.loadBalancerIP', '192.0.2.9', 'spec.loadBalancerIP'],
        ['service.internalTrafficPolicy', 'Local', 'spec.internalTrafficPolicy'],
        ['service.nodePort', 30_080, 'spec.ports.0.nodePort'],
        ['service.loadBalancerClass', 'c', 'spec.loadBalancerClass'],
        ['service.loadBalancerSourceRanges', ['192.0.2.0/24'], 'spec.loadBalancerSourceRanges'],
        ['service.externalTrafficPolicy', 'Local', 'spec.externalTrafficPolicy'],
        ['service.ipFamilyPolicy', 'PreferDualStack', 'spec.ipFamilyPolicy'],
        ['service.ipFamilies', ['IPv6', 'IPv4'], 'spec.ipFamilies'],
        ['service.trafficDistribution', 'PreferSameZone', 'spec.trafficDistribution'],
      ],
      'Ingress/front': [
        ['ingress.enabled', true, 'metadata.name', 'front'],
        ['ingress.className', 'haproxy', 'spec.ingressClassName'],
        ['ingress.preset', 'haproxy', `${HAPROXY}timeout-server`, '1h'],
        ['ingress.annotations', { 'haproxy.org/pod-maxconn': '60' }, `${HAPROXY}pod-maxconn`, '60'],
        ['ingress.hosts', ['h.example'], 'spec.rules.0.host', 'h.example'],
        ['ingress.paths', ['/api'], 'spec.rules.0.http.paths.0.path', '/api'],
        ['ingress.tls', [{ secretName: 't' }], 'spec.tls'],
        [
          'ingress.pathType',
          'ImplementationSpecific',
          'spec.rules.0.http.paths.0.pathType',
          'ImplementationSpecific',
        ],
      ],
      'Ingress/front-registry': [
        ['ingress.labels', { p: 'q' }, 'metadata.labels.p', 'q'],
        ['ingress.registry.enabled', true, 'spec.rules.0.http.paths.0.path', '/registry'],
        ['ingress.registry.className', 'inner', 'spec.ingressClassName'],
        ['ingress.registry.hosts', ['i.example'], 'spec.rules.0.host', 'i.example'],
        [
          'ingress.registry.annotations',
          { 'haproxy.org/allow-list': '10.0.0.0/8' },
          `${HAPROXY}allow-list`,
          '10.0.0.0/8',
        ],
        ['ingress.registry.tls', [{ secretName: 'u' }], 'spec.tls'],
      ],
      'HTTPRoute/front': [
        ['httpRoute.enabled', true, 'spec.rules.0.backendRefs.0.name', 'front'],
        ['httpRoute.annotations', { a: 'b' }, 'metadata.annotations'],
        ['httpRoute.parentRefs', [{ name: 'g' }], 'spec.parentRefs'],
        ['httpRoute.hostnames', ['h.example'], 'spec.hostnames'],
        ['httpRoute.paths', ['/api'], 'spec.rules.0.matches.0.path.value', '/api'],
        ['httpRoute.extraRules', [{ name: 'r' }], 'spec.rules.1.backendRefs.0.name', 'front'],
        [
          'httpRoute.timeouts',
          { request: '90s' },
          'spec.rules.0.timeouts',
          { request: '90s', backendRequest: '0s' },
        ],
        ['httpRoute.filters', [{ type: 'X' }], 'spec.rules.0.filters'],
      ],
      BackendTrafficPolicy: [
        ['httpRoute.preset', 'envoy-gateway', 'spec.targetRefs.1.name', 'front-registry'],
      ],
      'HTTPRoute/front-registry': [
        ['httpRoute.labels', { p: 'q' }, 'metadata.labels.p', 'q'],
        [
          'httpRoute.registry.enabled',
          true,
          'spec.rules.0.matches',
          [{ path: { type: 'PathPrefix', value: '/registry' } }],
        ],
        ['httpRoute.registry.parentRefs', [{ name: 'i' }], 'spec.parentRefs'],
        ['httpRoute.registry.hostnames', ['i.example'], 'spec.hostnames'],
        ['httpRoute.registry.filters', [{ type: 'Y' }], 'spec.rules.0.filters'],
      ],
      PodDisruptionBudget: [['pdb.minAvailable', 1, 'spec.minAvailable']],
    },
  },
  {
    name: 'scaled by an HPA',
    // So that as many reads fit.
    base: { settings: { maxOpenReads: 1_000_000 }, resources: { limits: { memory: null } } },
    effects: {
      HorizontalPodAutoscaler: [
        ['autoscaling.enabled', true, 'spec.scaleTargetRef.kind', 'Deployment'],
        ['autoscaling.minReplicas', 3, 'spec.minReplicas'],
        ['autoscaling.maxReplicas', 30, 'spec.maxReplicas'],
        [
          'autoscaling.targetCPUUtilizationPercentage',
          61,
          'spec.metrics.0.resource.target.averageUtilization',
          61,
        ],
        [
          'autoscaling.targetMemoryUtilizationPercentage',
          62,
          'spec.metrics.1.resource.target.averageUtilization',
          62,
        ],
        ['autoscaling.openReads.enabled', true, 'spec.metrics.2.type', 'Pods'],
        ['autoscaling.openReads.metricName', 'reads', 'spec.metrics.2.pods.metric.name'],
        [
          'autoscaling.openReads.averageValue',
          1_000_000,
          'spec.metrics.2.pods.target.averageValue',
          '1000000',
        ],
        ['autoscaling.extraMetrics', [{ type: 'External' }], 'spec.metrics.3.type', 'External'],
        [
          'autoscaling.behavior',
          { scaleDown: { stabilizationWindowSeconds: 900 } },
          'spec.behavior.scaleDown.stabilizationWindowSeconds',
          900,
        ],
      ],
    },
  },
  {
    name: 'scaled by KEDA',
    base: {},
    effects: {
      ScaledObject: [
        ['keda.enabled', true, 'spec.scaleTargetRef.name', 'gw-agent-gateway'],
        ['keda.minReplicas', 3, 'spec.minReplicaCount'],
        ['keda.maxReplicas', 30, 'spec.maxReplicaCount'],
        ['keda.pollingInterval', 5, 'spec.pollingInterval'],
        ['keda.cooldownPeriod', 60, 'spec.cooldownPeriod'],
        ['keda.fallback', { replicas: 6 }, 'spec.fallback'],
        ['keda.openReads.enabled', true, 'spec.triggers.0.type', 'prometheus'],
        ['keda.openReads.serverAddress', 'http://p:9090', 'spec.triggers.0.metadata.serverAddress'],
        ['keda.openReads.averageValue', 7000, 'spec.triggers.0.metadata.threshold', '7000'],
        [
          'keda.triggers',
          [{ type: 'cpu', metadata: { value: '50' } }],
          'spec.triggers.1.type',
          'cpu',
        ],
      ],
    },
  },
  {
    name: 'fenced and watched',
    base: {
      settings: { readTokenJwks: 'https://login.example/keys' },
      tracing: { endpoint: 'http://collector:4318' },
      tests: { enabled: false },
    },
    effects: {
      NetworkPolicy: [
        ['networkPolicy.enabled', true, 'spec.policyTypes', ['Ingress', 'Egress']],
        ['networkPolicy.clients', PEER, 'spec.ingress.0.from'],
        ['networkPolicy.monitoring', PEER, 'spec.ingress.1.from'],
        ['networkPolicy.extraIngress', [{ from: PEER }], 'spec.ingress.2.from', PEER],
        ['networkPolicy.dns', PEER, 'spec.egress.0.to'],
        ['networkPolicy.dnsPorts', [8053], 'spec.egress.0.ports.0.port', 8053],
        // In the order of the policy's rules.
        ...['collector', 'history', 'jwks', 'runtime', 'sync'].flatMap((upstream, i): Effect[] => [
          [`networkPolicy.upstreams.${upstream}.to`, PEER, `spec.egress.${i + 1}.to`],
          [
            `networkPolicy.upstreams.${upstream}.ports`,
            [i + 1],
            `spec.egress.${i + 1}.ports.0.port`,
            i + 1,
          ],
        ]),
        ['networkPolicy.extraEgress', [{ to: PEER }], 'spec.egress.6.to', PEER],
      ],
      ServiceMonitor: [
        ['serviceMonitor.enabled', true, 'spec.endpoints.0.port', 'management'],
        ['serviceMonitor.labels', { p: 'q' }, 'metadata.labels.p', 'q'],
        ['serviceMonitor.interval', '7s', 'spec.endpoints.0.interval'],
        ['serviceMonitor.scrapeTimeout', '6s', 'spec.endpoints.0.scrapeTimeout'],
        ['serviceMonitor.relabelings', [{ action: 'drop' }], 'spec.endpoints.0.relabelings'],
        [
          'serviceMonitor.metricRelabelings',
          [{ action: 'keep' }],
          'spec.endpoints.0.metricRelabelings',
        ],
        ['serviceMonitor.honorLabels', true, 'spec.endpoints.0.honorLabels'],
      ],
      PrometheusRule: [
        ['prometheusRule.enabled', true, 'spec.groups.1.rules.0.alert', 'AgentGatewayDown'],
        ['prometheusRule.labels', { p: 'q' }, 'metadata.labels.p', 'q'],
        [
          'prometheusRule.alertLabels',
          { severity: 'page' },
          'spec.groups.1.rules.0.labels.severity',
          'page',
        ],
        [
          'prometheusRule.disabledAlerts',
          ['AgentGatewayTargetDown'],
          'spec.groups.1.rules.1.alert',
          'AgentGatewayRestarting',
        ],
        [
          'prometheusRule.runbookBaseUrl',
          'https://runbooks.example/',
          'spec.groups.1.rules.0.annotations.runbook_url',
          'https://runbooks.example/docs/alerts.md#agentgatewaydown',
        ],
        [
          'prometheusRule.extraRules',
          [{ record: 'r', expr: '1' }],
          'spec.groups.8.rules.0',
          { record: 'r', expr: '1' },
        ],
        ['prometheusRule.extraGroups', [{ name: 'g', rules: [] }], 'spec.groups.9.name', 'g'],
      ],
      ConfigMap: [
        ['dashboard.enabled', true, 'metadata.name', 'gw-agent-gateway-dashboard'],
        ['dashboard.labels', { p: 'q' }, 'metadata.labels.p', 'q'],
        ['dashboard.annotations', { folder: 'Agents' }, 'metadata.annotations.folder', 'Agents'],
      ],
    },
  },
  {
    name: 'watched by a PodMonitor',
    base: {},
    effects: {
      PodMonitor: [
        ['podMonitor.enabled', true, 'spec.podMetricsEndpoints.0.port', 'management'],
        ['podMonitor.labels', { p: 'q' }, 'metadata.labels.p', 'q'],
        ['podMonitor.interval', '7s', 'spec.podMetricsEndpoints.0.interval'],
        ['podMonitor.scrapeTimeout', '6s', 'spec.podMetricsEndpoints.0.scrapeTimeout'],
        [
          'podMonitor.relabelings',
          [{ action: 'drop' }],
          'spec.podMetricsEndpoints.0.relabelings',
          // The first is how alerts and dashboards know the release.
          [
            { targetLabel: 'service', replacement: 'gw-agent-gateway-management' },
            { action: 'drop' },
          ],
        ],
        [
          'podMonitor.metricRelabelings',
          [{ action: 'keep' }],
          'spec.podMetricsEndpoints.0.metricRelabelings',
        ],
        ['podMonitor.honorLabels', true, 'spec.podMetricsEndpoints.0.honorLabels'],
      ],
    },
  },
  {
    name: 'the own Secret',
    base: {},
    effects: {
      Secret: [
        // A list as the gateway reads it from a file: one entry per line.
        inSecret('apiKeys', 'key-0123456789abcdef', 'key-fedcba9876543210'),
        inSecret('readTokenSecrets', 's'.repeat(32), 't'.repeat(32)),
        inSecret('runtimeIngressToken', 'ingress'),
        inSecret('runtimeAdminToken', 'admin'),
        inSecret('historyToken', 'history'),
        inSecret('syncSecret', 'sync'),
      ],
    },
  },
  {
    name: 'a Secret from elsewhere',
    base: { secrets: { apiKeys: [] } },
    effects: {
      Deployment: [
        ['secrets.existingSecret', 'vault', `${POD}.volumes.0.secret.secretName`],
        ...Object.entries(SECRET_KEYS).map(([holds, path], index): Effect => [
          `secrets.existingKeys.${holds}`,
          `${index}`,
          `${POD}.volumes.0.secret.items.${index}`,
          { key: `${index}`, path },
        ]),
      ],
    },
  },
];

/** Values that remove something. The test checks that it is absent. */
export const ABSENCES: [value: string, given: unknown, kind: string][] = [
  ['serviceAccount.create', false, 'ServiceAccount'],
  ['pdb.enabled', false, 'PodDisruptionBudget'],
  ['tests.enabled', false, 'Pod'],
];
