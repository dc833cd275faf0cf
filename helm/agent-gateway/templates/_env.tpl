{{/* The environment variables that the chart makes of `settings` and `secrets`. */}}
{{- define "agent-gateway.env" -}}
{{- range $setting, $value := .Values.settings }}
{{- if not (kindIs "invalid" $value) }}
- name: {{ include "agent-gateway.envName" $setting }}
  value: {{ include "agent-gateway.plain" $value | quote }}
{{- end }}
{{- end }}
{{- $keys := include "agent-gateway.secretKeys" . | fromJson }}
{{- range $holds := keys $keys | sortAlpha }}
- name: {{ include "agent-gateway.envName" $holds }}_FILE
  value: {{ include "agent-gateway.secretFile" $holds }}
{{- end }}
{{- include "agent-gateway.tracingEnv" . }}
{{- end }}

{{/* Kubernetes puts the pod's and the node's name in the place of `$(…)`. */}}
{{- define "agent-gateway.tracingEnv" -}}
{{- with .Values.tracing }}
{{- if .endpoint }}
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ .endpoint | quote }}
- name: OTEL_TRACES_SAMPLER
  value: parentbased_traceidratio
- name: OTEL_TRACES_SAMPLER_ARG
  value: {{ .sampleRatio | toString | quote }}
- name: K8S_POD_NAME
  valueFrom:
    fieldRef:
      fieldPath: metadata.name
- name: K8S_NODE_NAME
  valueFrom:
    fieldRef:
      fieldPath: spec.nodeName
{{- $attributes := list
  (printf "service.version=%s" (include "agent-gateway.version" $))
  (printf "k8s.namespace.name=%s" (include "agent-gateway.namespace" $))
  (printf "k8s.deployment.name=%s" (include "agent-gateway.fullname" $))
  "k8s.pod.name=$(K8S_POD_NAME)"
  "k8s.node.name=$(K8S_NODE_NAME)" }}
{{- range $name, $value := .resourceAttributes }}
{{- $attributes = append $attributes (printf "%s=%s" $name (urlquery $value | replace "+" "%20")) }}
{{- end }}
- name: OTEL_RESOURCE_ATTRIBUTES
  value: {{ join "," $attributes | quote }}
{{- end }}
{{- end }}
{{- end }}

{{/* `maxBodyBytes` → `GATEWAY_MAX_BODY_BYTES` */}}
{{- define "agent-gateway.envName" -}}
GATEWAY_{{ snakecase . | upper }}
{{- end }}

{{- define "agent-gateway.envNames" -}}
{{- $names := list }}
{{- range include "agent-gateway.env" . | fromYamlArray }}{{ $names = append $names .name }}{{ end }}
{{- toJson $names }}
{{- end }}

{{/* The folder as a whole is mounted: with `subPath` a rotated Secret would never be seen. */}}
{{- define "agent-gateway.secretFile" -}}
/etc/agent-gateway/secrets/{{ kebabcase . }}
{{- end }}
