{{/* The chart's name in labels. */}}
{{- define "agent-gateway.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* The name of the objects: always of the release, so that two releases share a namespace. */}}
{{- define "agent-gateway.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- $name := include "agent-gateway.name" . }}
{{- if contains $name .Release.Name }}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}

{{- define "agent-gateway.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride }}
{{- end }}

{{/* The version of the image that runs, as a label may hold it: of an image by digest alone, the digest's beginning. */}}
{{- define "agent-gateway.version" -}}
{{- with .Values.image }}
{{- if .tag }}{{ .tag | trunc 63 | trimAll "._-" }}
{{- else if .digest }}{{ .digest | replace ":" "-" | trunc 19 }}
{{- else }}{{ $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{- define "agent-gateway.selectorLabels" -}}
app.kubernetes.io/name: {{ include "agent-gateway.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: gateway
{{- end }}

{{/* Labels of an object: (dict "root" $ "component" "gateway"). */}}
{{- define "agent-gateway.labels" -}}
{{- with .root }}
{{- with .Values.commonLabels }}
{{- toYaml . }}
{{ end -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/name: {{ include "agent-gateway.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ include "agent-gateway.version" . | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "agent-gateway.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "agent-gateway.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "agent-gateway.image" -}}
{{- $repository := .Values.image.repository }}
{{- with (.Values.global).imageRegistry }}
{{- /* In the place of the image's own registry, which is a first part with a dot or a port. */}}
{{- $repository = printf "%s/%s" (trimSuffix "/" .) (regexReplaceAll "^(localhost|[^/]*[.:][^/]*)/" $repository "") }}
{{- end }}
{{- with .Values.image }}
{{- if .digest }}
{{- printf "%s@%s" $repository .digest }}
{{- else }}
{{- printf "%s:%s" $repository (default $.Chart.AppVersion .tag) }}
{{- end }}
{{- end }}
{{- end }}

{{/* The pull secrets of the values, and those of all charts together, which may be names alone. */}}
{{- define "agent-gateway.imagePullSecrets" -}}
{{- $secrets := .Values.imagePullSecrets }}
{{- range (.Values.global).imagePullSecrets }}
{{- $secrets = append $secrets (ternary (dict "name" .) . (kindIs "string" .)) }}
{{- end }}
{{- with uniq $secrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "agent-gateway.secretName" -}}
{{- default (include "agent-gateway.fullname" .) .Values.secrets.existingSecret }}
{{- end }}

{{/*
The keys of the Secret that there are, by what they hold, as JSON: of the existing Secret those that
are named, of the chart's own those that have a value.
*/}}
{{- define "agent-gateway.secretKeys" -}}
{{- $keys := dict }}
{{- with .Values.secrets }}
{{- if .existingSecret }}
{{- range $holds, $key := .existingKeys }}
{{- if $key }}{{ $_ := set $keys $holds $key }}{{ end }}
{{- end }}
{{- else }}
{{- range $holds, $key := include "agent-gateway.ownSecretKeys" . | fromJson }}
{{- if index $.Values.secrets $holds }}{{ $_ := set $keys $holds $key }}{{ end }}
{{- end }}
{{- end }}
{{- end }}
{{- toJson $keys }}
{{- end }}

{{- define "agent-gateway.ownSecretKeys" -}}
{"apiKeys": "api-keys", "readTokenSecrets": "read-token-secrets", "runtimeIngressToken": "runtime-ingress-token", "runtimeAdminToken": "runtime-admin-token", "historyToken": "history-token", "syncSecret": "sync-secret"}
{{- end }}

{{/* Values for the chart's own Secret, of which there must be some where no existing one is named. */}}
{{- define "agent-gateway.hasOwnSecret" -}}
{{- with .Values.secrets }}
{{- if or .apiKeys .readTokenSecrets .runtimeIngressToken .runtimeAdminToken .historyToken .syncSecret }}true{{ end }}
{{- end }}
{{- end }}

{{/* A setting's number as whole digits: Helm may hold 1048576 as the float 1.048576e+06. */}}
{{- define "agent-gateway.plain" -}}
{{- if kindIs "float64" . }}{{ int64 . }}{{ else }}{{ . }}{{ end }}
{{- end }}

{{/* Fewest copies that run. */}}
{{- define "agent-gateway.minReplicas" -}}
{{- if .Values.autoscaling.enabled }}{{ .Values.autoscaling.minReplicas }}
{{- else if .Values.keda.enabled }}{{ .Values.keda.minReplicas }}
{{- else }}{{ .Values.replicaCount }}{{ end }}
{{- end }}

{{/* The port of a URL, also where the URL does not say it. */}}
{{- define "agent-gateway.portOfUrl" -}}
{{- $url := urlParse . }}
{{- $port := regexFind ":[0-9]+$" $url.host }}
{{- if $port }}{{ trimPrefix ":" $port }}
{{- else if eq $url.scheme "https" }}443
{{- else }}80{{ end }}
{{- end }}

{{/* A quantity of Kubernetes, such as `1Gi` or `0.5G`, in bytes. */}}
{{- define "agent-gateway.bytes" -}}
{{- $units := dict "" 1 "m" 0.001 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "P" 1e15 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 "Pi" 1125899906842624 }}
{{- $text := include "agent-gateway.plain" . }}
{{- int64 (mulf (float64 (regexFind "^[0-9.]+" $text)) (float64 (get $units (regexFind "[A-Za-z]*$" $text) | default 1))) }}
{{- end }}
