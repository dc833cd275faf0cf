{{/*
What would install and not work stops the render, in a plain sentence. Included by the Deployment,
which is always rendered.
*/}}
{{- define "agent-gateway.guards" -}}
{{- $problems := list }}
{{- with .Values }}

{{- if not .image.repository }}
{{- $problems = append $problems "image.repository is required: the registry and name that the image was pushed to, such as registry.example/agent-gateway." }}
{{- end }}

{{- range $setting := list "runtimeIngressUrl" "runtimeAdminUrl" "historyUrl" "syncUrl" }}
{{- if not (index $.Values.settings $setting) }}
{{- $problems = append $problems (printf "settings.%s is required: the address of that upstream inside the cluster." $setting) }}
{{- end }}
{{- end }}

{{- $own := include "agent-gateway.hasOwnSecret" $ }}
{{- if and .secrets.existingSecret $own }}
{{- $problems = append $problems "there are two secret sources: secrets.existingSecret names a Secret, and there are values for the chart's own (secrets.apiKeys and the like). Give one of the two." }}
{{- else if not (or .secrets.existingSecret $own) }}
{{- $problems = append $problems "there is no secret source: name a Secret in secrets.existingSecret, or give secrets.apiKeys for the chart to make one." }}
{{- else if not (get (include "agent-gateway.secretKeys" $ | fromJson) "apiKeys") }}
{{- $problems = append $problems "there are no API keys: give secrets.apiKeys, or with an existing Secret the key that holds them in secrets.existingKeys.apiKeys." }}
{{- end }}

{{- /* Not in the schema: its messages repeat the value. */}}
{{- range $index, $entry := .secrets.apiKeys }}
{{- if not (regexMatch (ternary "^sha256:[0-9a-fA-F]{64}( +(name|scopes|paths)=[\\x21-\\x7e]+)*$" "^[\\x21-\\x7e]+( +(name|scopes|paths)=[\\x21-\\x7e]+)*$" (hasPrefix "sha256:" $entry)) $entry) }}
{{- $problems = append $problems (printf "secrets.apiKeys[%d] must be visible ASCII characters without spaces, or sha256:<64 hex digits>; then, where it is not to open everything, name=, scopes= and paths=." $index) }}
{{- end }}
{{- end }}
{{- range $index, $entry := .secrets.readTokenSecrets }}
{{- if or (ne $entry (trim $entry)) (contains "\n" $entry) }}
{{- $problems = append $problems (printf "secrets.readTokenSecrets[%d] must be one line without spaces around it." $index) }}
{{- end }}
{{- end }}
{{- range $name := list "runtimeIngressToken" "runtimeAdminToken" "historyToken" }}
{{- if not (regexMatch "^[\\x21-\\x7e]*$" (index $.Values.secrets $name)) }}
{{- $problems = append $problems (printf "secrets.%s must be visible ASCII characters without spaces." $name) }}
{{- end }}
{{- end }}

{{- if eq (int .settings.port) (int .settings.managementPort) }}
{{- $problems = append $problems "settings.port and settings.managementPort must be two ports: what is public and what is not." }}
{{- end }}

{{- /* As the gateway reckons: 128 MiB for itself, 50 KiB for each open read. By itself it takes 60 % of the rest for reads. */}}
{{- $memory := dig "limits" "memory" "" .resources }}
{{- if and $memory .settings.maxOpenReads }}
{{- $fit := max 0 (div (sub (int64 (include "agent-gateway.bytes" $memory)) 134217728) 51200) }}
{{- if gt (int64 .settings.maxOpenReads) $fit }}
{{- $problems = append $problems (printf "settings.maxOpenReads is %d, of which at most %d fit into resources.limits.memory (%s): the container would be killed. Raise the limit, or leave maxOpenReads at null for what fits." (int64 .settings.maxOpenReads) $fit (include "agent-gateway.plain" $memory)) }}
{{- end }}
{{- end }}

{{- $drainMs := int64 (default 25000 .settings.drainTimeoutMs) }}
{{- $needed := add (int64 .preStopSleepSeconds) (div (add $drainMs 999) 1000) }}
{{- if lt (int64 .terminationGracePeriodSeconds) $needed }}
{{- $problems = append $problems (printf "terminationGracePeriodSeconds is %d, which is shorter than preStopSleepSeconds (%d) and settings.drainTimeoutMs (%d) together: a draining pod would be killed. Make it at least %d." (int64 .terminationGracePeriodSeconds) (int64 .preStopSleepSeconds) $drainMs $needed) }}
{{- end }}

{{- if and .autoscaling.enabled .keda.enabled }}
{{- $problems = append $problems "autoscaling.enabled and keda.enabled are both on: they would fight over the number of copies. Turn one off." }}
{{- end }}
{{- with .autoscaling }}
{{- if .enabled }}
{{- if gt (int .minReplicas) (int .maxReplicas) }}
{{- $problems = append $problems "autoscaling.minReplicas is more than autoscaling.maxReplicas." }}
{{- end }}
{{- if and .openReads.enabled (not (and .openReads.metricName .openReads.averageValue)) }}
{{- $problems = append $problems "autoscaling.openReads needs metricName and averageValue." }}
{{- end }}
{{- if not (or .targetCPUUtilizationPercentage .targetMemoryUtilizationPercentage .openReads.enabled .extraMetrics) }}
{{- $problems = append $problems "autoscaling has nothing to scale on: give targetCPUUtilizationPercentage, targetMemoryUtilizationPercentage, openReads or extraMetrics." }}
{{- end }}
{{- if and .targetCPUUtilizationPercentage (not (dig "requests" "cpu" "" $.Values.resources)) }}
{{- $problems = append $problems "autoscaling.targetCPUUtilizationPercentage is a share of resources.requests.cpu, which is not set." }}
{{- end }}
{{- if and .targetMemoryUtilizationPercentage (not (dig "requests" "memory" "" $.Values.resources)) }}
{{- $problems = append $problems "autoscaling.targetMemoryUtilizationPercentage is a share of resources.requests.memory, which is not set." }}
{{- end }}
{{- end }}
{{- end }}
{{- if .keda.enabled }}
{{- if not .keda.triggers }}
{{- $problems = append $problems "keda.triggers is required where keda.enabled is on." }}
{{- end }}
{{- if gt (int .keda.minReplicas) (int .keda.maxReplicas) }}
{{- $problems = append $problems "keda.minReplicas is more than keda.maxReplicas." }}
{{- end }}
{{- end }}

{{- if and .pdb.enabled (kindIs "invalid" .pdb.maxUnavailable) (kindIs "invalid" .pdb.minAvailable) }}
{{- $problems = append $problems "pdb needs maxUnavailable or minAvailable." }}
{{- end }}
{{- if and .pdb.enabled (not (kindIs "invalid" .pdb.maxUnavailable)) (not (kindIs "invalid" .pdb.minAvailable)) }}
{{- $problems = append $problems "pdb has both maxUnavailable and minAvailable: Kubernetes takes one. Set the other to null." }}
{{- end }}

{{- if and .ingress.enabled (not .ingress.hosts) }}
{{- $problems = append $problems "ingress.hosts is required where ingress.enabled is on." }}
{{- end }}
{{- if and .httpRoute.enabled (not .httpRoute.parentRefs) }}
{{- $problems = append $problems "httpRoute.parentRefs is required where httpRoute.enabled is on: the Gateway to attach to." }}
{{- end }}
{{- if and .networkPolicy.enabled (not .networkPolicy.clients) }}
{{- $problems = append $problems "networkPolicy.clients is required where networkPolicy.enabled is on: without it nobody reaches the gateway." }}
{{- end }}
{{- if and .networkPolicy.enabled (not .networkPolicy.dns) }}
{{- $problems = append $problems "networkPolicy.dns is required where networkPolicy.enabled is on: without DNS no upstream is found." }}
{{- end }}
{{- if and .prometheusRule.enabled (not .serviceMonitor.enabled) }}
{{- $problems = append $problems "prometheusRule.enabled needs serviceMonitor.enabled: its alerts are on the targets of that." }}
{{- end }}

{{- range $label, $_ := merge (deepCopy .podLabels) .commonLabels }}
{{- if hasKey (include "agent-gateway.selectorLabels" $ | fromYaml) $label }}
{{- $problems = append $problems (printf "podLabels or commonLabels sets %s, by which the chart finds its pods." $label) }}
{{- end }}
{{- end }}

{{- range .extraEnv }}
{{- if has .name (include "agent-gateway.envNames" $ | fromJsonArray) }}
{{- $problems = append $problems (printf "extraEnv sets %s, which the chart sets itself: use settings or secrets." .name) }}
{{- end }}
{{- end }}

{{- end }}
{{- if $problems }}
{{- fail (printf "\n\nThe values of agent-gateway cannot be installed:\n  - %s\n" (join "\n  - " $problems)) }}
{{- end }}
{{- end }}
