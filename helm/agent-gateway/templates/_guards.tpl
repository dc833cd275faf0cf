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
{{- $hasAttributes := contains " " (join "\n" .secrets.apiKeys) }}
{{- range $index, $entry := .secrets.apiKeys }}
{{- $key := regexFind "^[^ ]*" $entry }}
{{- $attributes := trimPrefix $key $entry }}
{{- $isKey := and (regexMatch "^[A-Za-z0-9_~+-][A-Za-z0-9._~+/-]*=*$" $key) (ge (len $key) 16) (le (len $key) 256) (not (hasPrefix "sha256" (lower $key))) }}
{{- if not (or $isKey (regexMatch "^sha256:[0-9a-fA-F]{64}$" $key)) }}
{{- $problems = append $problems (printf "secrets.apiKeys[%d] must begin with a key of 16 to 256 letters, digits and . _ ~ + / - (with = at the end only, and not beginning with /, . or sha256), or with sha256:<64 hex digits> of one." $index) }}
{{- else if not (regexMatch "^( +(name|scopes|paths)=[A-Za-z0-9._~:@%+/-]+)*$" $attributes) }}
{{- $problems = append $problems (printf "secrets.apiKeys[%d] must have nothing but name=, scopes= and paths= after the key, with values joined by +." $index) }}
{{- else if and $hasAttributes (not (contains " name=" $attributes)) }}
{{- $problems = append $problems (printf "secrets.apiKeys[%d] must have a name=, as every key of a list in which any has attributes." $index) }}
{{- end }}
{{- end }}
{{- range $index, $entry := .secrets.readTokenSecrets }}
{{- if or (ne $entry (trim $entry)) (regexMatch "[[:cntrl:]]" $entry) (hasPrefix "#" $entry) }}
{{- $problems = append $problems (printf "secrets.readTokenSecrets[%d] must be one line without spaces around it, and must not begin with #." $index) }}
{{- end }}
{{- end }}
{{- if or (ne .secrets.syncSecret (trim .secrets.syncSecret)) (contains "\n" .secrets.syncSecret) }}
{{- $problems = append $problems "secrets.syncSecret must be one line without spaces around it." }}
{{- end }}
{{- range $name := list "runtimeIngressToken" "runtimeAdminToken" "historyToken" }}
{{- if not (regexMatch "^[\\x21-\\x7e]*$" (index $.Values.secrets $name)) }}
{{- $problems = append $problems (printf "secrets.%s must be visible ASCII characters without spaces." $name) }}
{{- end }}
{{- end }}

{{- if eq (int .settings.port) (int .settings.managementPort) }}
{{- $problems = append $problems "settings.port and settings.managementPort must be two ports: what is public and what is not." }}
{{- end }}

{{- if not (has (default "0.0.0.0" .settings.host) (list "0.0.0.0" "::")) }}
{{- $problems = append $problems (printf "settings.host is %s, where no probe and no Service reaches the gateway: they ask at the pod's own address. Use 0.0.0.0, or :: where the cluster has IPv6." .settings.host) }}
{{- end }}

{{- /* As the gateway reckons: 128 MiB for itself, 50 KiB for each open read with its two sockets. By itself it takes 60 % of the rest for reads. */}}
{{- $memory := dig "limits" "memory" "" .resources }}
{{- $bytes := 0 }}
{{- if $memory }}
{{- $bytes = int64 (include "agent-gateway.bytes" $memory) }}
{{- $request := dig "requests" "memory" "" .resources }}
{{- if and $request (gt (int64 (include "agent-gateway.bytes" $request)) $bytes) }}
{{- $problems = append $problems (printf "resources.requests.memory (%s) is more than resources.limits.memory (%s)." (include "agent-gateway.plain" $request) (include "agent-gateway.plain" $memory)) }}
{{- end }}
{{- if lt $bytes 201326592 }}
{{- $problems = append $problems (printf "resources.limits.memory is %s, of which the gateway takes 128 MiB before it serves anybody. Give it 192Mi or more." (include "agent-gateway.plain" $memory)) }}
{{- end }}
{{- range .extraEnv }}
{{- if eq .name "NODE_OPTIONS" }}
{{- $heap := regexFind "max[-_]old[-_]space[-_]size=[0-9]+" (toString .value) | splitList "=" | last }}
{{- if and $heap (ge (mul (int64 $heap) 1048576) $bytes) }}
{{- $problems = append $problems (printf "extraEnv gives Node a heap of %s MiB in NODE_OPTIONS, which does not fit into resources.limits.memory (%s): the container would be killed." $heap (include "agent-gateway.plain" $memory)) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- if and .settings.maxOpenReads .settings.maxConnections (gt (int64 .settings.maxOpenReads) (int64 .settings.maxConnections)) }}
{{- $problems = append $problems (printf "settings.maxOpenReads is %d, more than settings.maxConnections (%d): each read has a connection." (int64 .settings.maxOpenReads) (int64 .settings.maxConnections)) }}
{{- end }}
{{- $cap := default 40000 .settings.maxOpenReads }}
{{- if and $memory (not .settings.maxOpenReads) }}
{{- $cap = min 40000 (max 100 (div (mul (sub $bytes 134217728) 6) 512000)) }}
{{- end }}
{{- if and .autoscaling.enabled .autoscaling.openReads.enabled .autoscaling.openReads.averageValue }}
{{- if gt (int64 .autoscaling.openReads.averageValue) (int64 $cap) }}
{{- $problems = append $problems (printf "autoscaling.openReads.averageValue is %d, more than the %d reads that a pod takes: it would turn readers away and never scale. Aim at two thirds of that." (int64 .autoscaling.openReads.averageValue) (int64 $cap)) }}
{{- end }}
{{- end }}
{{- if and $memory .settings.maxConnections }}
{{- $fit := max 0 (div (sub $bytes 134217728) 25600) }}
{{- if gt (int64 .settings.maxConnections) $fit }}
{{- $problems = append $problems (printf "settings.maxConnections is %d, of which at most %d fit into resources.limits.memory (%s): the container would be killed. Raise the limit, or leave maxConnections at null for what fits." (int64 .settings.maxConnections) $fit (include "agent-gateway.plain" $memory)) }}
{{- end }}
{{- end }}
{{- if and $memory .settings.maxOpenReads }}
{{- $fit := max 0 (div (sub $bytes 134217728) 51200) }}
{{- if gt (int64 .settings.maxOpenReads) $fit }}
{{- $problems = append $problems (printf "settings.maxOpenReads is %d, of which at most %d fit into resources.limits.memory (%s): the container would be killed. Raise the limit, or leave maxOpenReads at null for what fits." (int64 .settings.maxOpenReads) $fit (include "agent-gateway.plain" $memory)) }}
{{- end }}
{{- end }}

{{- range $setting := list "host" "port" "managementPort" "drainTimeoutMs" }}
{{- if kindIs "invalid" (index $.Values.settings $setting) }}
{{- $problems = append $problems (printf "settings.%s must not be null: probes, Services and the grace period go by it." $setting) }}
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

{{- $copies := include "agent-gateway.minReplicas" $ | int }}
{{- if and .pdb.enabled (gt $copies 1) }}
{{- if not (kindIs "invalid" .pdb.minAvailable) }}
{{- $min := toString .pdb.minAvailable }}
{{- $kept := ternary (div (add (mul $copies (trimSuffix "%" $min | int)) 99) 100) (int $min) (hasSuffix "%" $min) }}
{{- if ge (int $kept) $copies }}
{{- $problems = append $problems (printf "pdb.minAvailable is %s of %d copies, which lets no pod go: no node could be emptied. Use pdb.maxUnavailable: 1 instead." $min $copies) }}
{{- end }}
{{- else if and (not (kindIs "invalid" .pdb.maxUnavailable)) (eq (trimSuffix "%" (toString .pdb.maxUnavailable) | int) 0) }}
{{- $problems = append $problems "pdb.maxUnavailable is 0, which lets no pod go: no node could be emptied. Use 1." }}
{{- end }}
{{- end }}

{{- range $door := list "ingress" "httpRoute" }}
{{- range $path := index $.Values $door "paths" }}
{{- if or (eq $path "/") (regexMatch "^/registry(/|$)" $path) }}
{{- $problems = append $problems (printf "%s.paths has %s, which lets /registry in, Restate's admin API. Name the paths that clients use, and turn %s.registry.enabled on where operators come from outside." $door $path $door) }}
{{- end }}
{{- end }}
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
{{- $own := include "agent-gateway.envNames" $ | fromJsonArray }}
{{- range list "host" "port" "managementPort" "drainTimeoutMs" "maxOpenReads" "maxOpenReadsPerCredential" "maxConnections" }}{{ $own = append $own (include "agent-gateway.envName" .) }}{{ end }}
{{- if has .name $own }}
{{- $problems = append $problems (printf "extraEnv sets %s, which the chart sets itself: use settings or secrets." .name) }}
{{- end }}
{{- end }}

{{- end }}
{{- if $problems }}
{{- fail (printf "\n\nThe values of agent-gateway cannot be installed:\n  - %s\n" (join "\n  - " $problems)) }}
{{- end }}
{{- end }}
