{{/*
What would install and not work stops the render, in a plain sentence. Included by the Deployment, which is always
rendered. Each of the templates below prints a line for each problem.
*/}}
{{- define "agent-gateway.guards" -}}
{{- $problems := list }}
{{- range list "image" "secrets" "settings" "names" "memory" "copies" "rollout" "service" "doors" "clouds" "monitoring" }}
{{- $problems = concat $problems (include (printf "agent-gateway.problems.%s" .) $ | splitList "\n" | compact) }}
{{- end }}
{{- if $problems }}
{{- fail (printf "\n\nThe values of agent-gateway cannot be installed:\n  - %s\n" (join "\n  - " $problems)) }}
{{- end }}
{{- end }}

{{- define "agent-gateway.problems.image" }}
{{- if and (hasKey .Values "enabled") (not .Values.enabled) }}
enabled is false, and the chart is rendered all the same. It is for a chart that has this one as a dependency: give that dependency `condition: agent-gateway.enabled`.
{{- end }}
{{- with .Values.image }}
{{- if not .repository }}
image.repository is required: the registry and name that the image was pushed to, such as registry.example/agent-gateway.
{{- end }}
{{- $own := include "agent-gateway.ownDigest" $ }}
{{- if and $own .tag .digest (ne (eq .tag $.Chart.AppVersion) (eq .digest $own)) }}
{{ printf "image.tag is %s and image.digest %s, which are not the same image: this version of the chart knows %s as %s. Leave one of the two out." .tag .digest $.Chart.AppVersion $own }}
{{- end }}
{{- end }}
{{- end }}

{{- define "agent-gateway.problems.secrets" }}
{{- with .Values.secrets }}
{{- $own := include "agent-gateway.hasOwnSecret" $ }}
{{- if and .existingSecret $own }}
there are two secret sources: secrets.existingSecret names a Secret, and there are values for the chart's own (secrets.apiKeys and the like). Give one of the two.
{{- else if not (or .existingSecret $own) }}
there is no secret source: name a Secret in secrets.existingSecret, or give secrets.apiKeys for the chart to make one.
{{- else if not (get (include "agent-gateway.secretKeys" $ | fromJson) "apiKeys") }}
there are no API keys: give secrets.apiKeys, or with an existing Secret the key that holds them in secrets.existingKeys.apiKeys.
{{- end }}
{{- if eq .existingSecret (include "agent-gateway.fullname" $) }}
{{ printf "secrets.existingSecret is %s, as the chart calls a Secret of its own: where there is one, this upgrade would delete it, and every new pod would wait for it. Make the Secret under another name, and give that." .existingSecret }}
{{- end }}

{{- /* Not in the schema: its messages repeat the value. */}}
{{- $hasAttributes := contains " " (join "\n" .apiKeys) }}
{{- $names := list }}
{{- range $index, $entry := .apiKeys }}
{{- $key := regexFind "^[^ ]*" $entry }}
{{- $attributes := trimPrefix $key $entry }}
{{- $name := regexFind " name=[^ ]+" $attributes }}
{{- $isKey := and (regexMatch "^[A-Za-z0-9_~+-][A-Za-z0-9._~+/-]*=*$" $key) (ge (len $key) 16) (le (len $key) 256) (not (hasPrefix "sha256" (lower $key))) }}
{{- if not (or $isKey (regexMatch "^sha256:[0-9a-fA-F]{64}$" $key)) }}
{{ printf "secrets.apiKeys[%d] must begin with a key of 16 to 256 letters, digits and . _ ~ + / - (with = at the end only, and not beginning with /, . or sha256), or with sha256:<64 hex digits> of one." $index }}
{{- else if not (regexMatch "^( +(name|scopes|paths)=[A-Za-z0-9._~:@%+/-]+)*$" $attributes) }}
{{ printf "secrets.apiKeys[%d] must have nothing but name=, scopes= and paths= after the key, with values joined by +." $index }}
{{- else if and $hasAttributes (not $name) }}
{{ printf "secrets.apiKeys[%d] must have a name=, as every key of a list in which any has attributes." $index }}
{{- else if and $name (has $name $names) }}
{{ printf "secrets.apiKeys[%d] must have a name= of its own: another key has this one." $index }}
{{- end }}
{{- $names = append $names $name }}
{{- end }}
{{- range $index, $entry := .readTokenSecrets }}
{{- if or (ne $entry (trim $entry)) (regexMatch "[[:cntrl:]]" $entry) (hasPrefix "#" $entry) }}
{{ printf "secrets.readTokenSecrets[%d] must be one line without spaces around it, and must not begin with #." $index }}
{{- end }}
{{- end }}
{{- if or (ne .syncSecret (trim .syncSecret)) (contains "\n" .syncSecret) }}
secrets.syncSecret must be one line without spaces around it.
{{- end }}
{{- range $name := list "runtimeIngressToken" "runtimeAdminToken" "historyToken" }}
{{- if not (regexMatch "^[\\x21-\\x7e]*$" (index $.Values.secrets $name)) }}
{{ printf "secrets.%s must be visible ASCII characters without spaces." $name }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "agent-gateway.problems.settings" }}
{{- with .Values.settings }}
{{- range $setting := list "runtimeIngressUrl" "runtimeAdminUrl" "historyUrl" "syncUrl" }}
{{- if not (index $.Values.settings $setting) }}
{{ printf "settings.%s is required: the address of that upstream inside the cluster." $setting }}
{{- end }}
{{- end }}
{{- range $setting := list "port" "managementPort" "drainTimeoutMs" }}
{{- if kindIs "invalid" (index $.Values.settings $setting) }}
{{ printf "settings.%s must not be null: probes, Services and the grace period go by it." $setting }}
{{- end }}
{{- end }}
{{- if eq (int .port) (int .managementPort) }}
settings.port and settings.managementPort must be two ports: what is public and what is not.
{{- end }}
{{- if not (has (default "0.0.0.0" .host) (list "0.0.0.0" "::")) }}
{{ printf "settings.host is %s, where no probe and no Service reaches the gateway: they ask at the pod's own address. Leave it out, or use 0.0.0.0 or ::." .host }}
{{- end }}
{{- end }}
{{- end }}

{{/* The API server refuses a name that it finds twice, and two mounts on one path. */}}
{{- define "agent-gateway.problems.names" }}
{{- with .Values }}
{{- $own := include "agent-gateway.envNames" $ | fromJsonArray }}
{{- range list "host" "port" "managementPort" "drainTimeoutMs" "maxOpenReads" "maxOpenReadsPerCredential" "maxOpenReadsPerSubject" "maxConnections" }}{{ $own = append $own (include "agent-gateway.envName" .) }}{{ end }}
{{- $env := list }}
{{- range .extraEnv }}
{{- if has .name $own }}
{{ printf "extraEnv sets %s, which the chart sets itself: use settings or secrets." .name }}
{{- end }}
{{- $env = append $env .name }}
{{- end }}
{{- $volumes := list "secrets" }}{{ range .extraVolumes }}{{ $volumes = append $volumes .name }}{{ end }}
{{- $mounts := list (dir (include "agent-gateway.secretFile" "x")) }}{{ range .extraVolumeMounts }}{{ $mounts = append $mounts (clean .mountPath) }}{{ end }}
{{- $containers := list "gateway" }}{{ range concat .initContainers .extraContainers }}{{ $containers = append $containers .name }}{{ end }}
{{- $spreads := list }}{{ range .topologySpreadConstraints }}{{ $spreads = append $spreads (printf "%s with %s" .topologyKey .whenUnsatisfiable) }}{{ end }}
{{- $groups := list }}{{ range .prometheusRule.extraGroups }}{{ $groups = append $groups .name }}{{ end }}
{{- range $where, $names := dict
  "extraEnv" $env
  "extraVolumes, beside the chart's own," $volumes
  "extraVolumeMounts, beside the chart's own," $mounts
  "initContainers and extraContainers, beside the chart's own," $containers
  "topologySpreadConstraints" $spreads
  "prometheusRule.extraGroups" $groups }}
{{- range include "agent-gateway.twice" $names | fromJsonArray }}
{{ printf "%s have %s twice, which Kubernetes refuses." $where . }}
{{- end }}
{{- end }}
{{- if and (eq .dnsPolicy "None") (not .dnsConfig) }}
dnsPolicy None needs dnsConfig, with the nameservers to ask.
{{- end }}
{{- range $label, $_ := merge (deepCopy .podLabels) .commonLabels }}
{{- if hasKey (include "agent-gateway.selectorLabels" $ | fromYaml) $label }}
{{ printf "podLabels or commonLabels sets %s, by which the chart finds its pods." $label }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
