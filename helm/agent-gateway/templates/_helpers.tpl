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
{{- /* A release may be called a.b, a Service may not. */}}
{{- $release := .Release.Name | replace "." "-" }}
{{- if regexMatch "^[0-9]" .Release.Name }}
{{- /* A Service's name begins with a letter, before Kubernetes 1.36. */}}
{{- printf "%s-%s" $name $release | trunc 50 | trimSuffix "-" }}
{{- else if contains $name $release }}
{{- $release | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" $release $name | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}

{{- define "agent-gateway.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride }}
{{- end }}

{{/* The digest of this version's image, which the release writes into Chart.yaml. Empty in the sources. */}}
{{- define "agent-gateway.ownDigest" -}}
{{- index .Chart.Annotations "agent-gateway/image-digest" }}
{{- end }}

{{/* The version of the image that runs, as a label may hold it: of an image by digest alone, the digest's beginning. */}}
{{- define "agent-gateway.version" -}}
{{- with .Values.image }}
{{- if .tag }}{{ .tag | trunc 63 | trimAll "._-" }}
{{- else if and .digest (ne .digest (include "agent-gateway.ownDigest" $)) }}{{ .digest | replace ":" "-" | trunc 19 }}
{{- else }}{{ $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{- define "agent-gateway.selectorLabels" -}}
app.kubernetes.io/name: {{ include "agent-gateway.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/component: gateway
{{- end }}

{{/* Labels of an object: (dict "root" $ "component" "gateway"). */}}
{{- define "agent-gateway.labels" -}}
{{- with .root }}
{{- with .Values.commonLabels }}
{{- toYaml . }}
{{ end -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" | quote }}
app.kubernetes.io/name: {{ include "agent-gateway.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
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
{{- /* A tag given by hand wins over the chart's own digest. Given with a digest it stays in the name, and the digest counts. */}}
{{- $tag := .Values.image.tag }}
{{- $digest := .Values.image.digest }}
{{- if not (or $tag $digest) }}
{{- $digest = include "agent-gateway.ownDigest" . }}
{{- $tag = ternary "" .Chart.AppVersion (ne $digest "") }}
{{- end }}
{{- $repository }}{{ with $tag }}:{{ . }}{{ end }}{{ with $digest }}@{{ . }}{{ end }}
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

{{/* A quantity of Kubernetes, such as `1Gi` or `0.5`, in thousandths of its unit. */}}
{{- define "agent-gateway.thousandths" -}}
{{- $units := dict "" 1e3 "m" 1 "k" 1e6 "M" 1e9 "G" 1e12 "T" 1e15 "Ki" 1024e3 "Mi" 1048576e3 "Gi" 1073741824e3 "Ti" 1099511627776e3 }}
{{- if kindIs "float64" . }}
{{- int64 (mulf . 1000) }}
{{- else }}
{{- $text := toString . }}
{{- int64 (mulf (float64 (regexFind "^[0-9.]+(e[0-9]+)?" $text)) (float64 (get $units (regexFind "[A-Za-z]*$" $text) | default 1e3))) }}
{{- end }}
{{- end }}

{{- define "agent-gateway.bytes" -}}
{{- div (include "agent-gateway.thousandths" . | int64) 1000 }}
{{- end }}

{{/* The texts of a list that are in it more than once, as JSON. */}}
{{- define "agent-gateway.twice" -}}
{{- $seen := dict }}
{{- $twice := list }}
{{- range . }}
{{- if hasKey $seen (toString .) }}{{ $twice = append $twice . }}{{ end }}
{{- $_ := set $seen (toString .) true }}
{{- end }}
{{- uniq $twice | toJson }}
{{- end }}

{{/* The labels by which Prometheus knows the series of this release: those of its ServiceMonitor. */}}
{{- define "agent-gateway.series" -}}
{{- printf "job=%q, namespace=%q, service=%q" (include "agent-gateway.name" .) (include "agent-gateway.namespace" .) (include "agent-gateway.managementService" .) }}
{{- end }}

{{- define "agent-gateway.managementService" -}}
{{- include "agent-gateway.fullname" . }}-management
{{- end }}

{{/* Whether a scaler decides how many copies run. */}}
{{- define "agent-gateway.isScaled" -}}
{{- if or .Values.autoscaling.enabled .Values.keda.enabled }}true{{ end }}
{{- end }}
