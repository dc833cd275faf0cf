{{/* The environment variables that the chart makes of `settings` and `secrets`. */}}
{{- define "agent-gateway.env" -}}
{{- range $setting, $value := .Values.settings }}
{{- if not (kindIs "invalid" $value) }}
- name: {{ include "agent-gateway.envName" $setting }}
  value: {{ include "agent-gateway.plain" $value | quote }}
{{- end }}
{{- end }}
{{- $keys := include "agent-gateway.secretKeys" . | fromJson }}
{{- range $holds := list "apiKeys" "readTokenSecrets" }}
{{- if hasKey $keys $holds }}
- name: {{ include "agent-gateway.envName" $holds }}_FILE
  value: {{ include "agent-gateway.secretFile" $holds }}
{{- end }}
{{- end }}
{{- range $holds := list "runtimeToken" "historyToken" "syncSecret" }}
{{- if hasKey $keys $holds }}
- name: {{ include "agent-gateway.envName" $holds }}
  valueFrom:
    secretKeyRef:
      name: {{ include "agent-gateway.secretName" $ }}
      key: {{ get $keys $holds }}
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
