{{/* As the gateway reckons: 128 MiB for itself, 50 KiB for each open read with its two sockets. By itself it takes 60 % of the rest for reads. */}}
{{- define "agent-gateway.problems.memory" }}
{{- with .Values }}
{{- $memory := include "agent-gateway.plain" (dig "limits" "memory" "" .resources) }}
{{- $bytes := int64 (include "agent-gateway.bytes" $memory) }}
{{- $cap := default 40000 .settings.maxOpenReads }}
{{- range $where, $of := dict "resources" .resources "tests.resources" .tests.resources }}
{{- range $resource, $request := default dict $of.requests }}
{{- $limit := dig "limits" $resource "" $of }}
{{- if and $limit (gt (include "agent-gateway.thousandths" $request | int64) (include "agent-gateway.thousandths" $limit | int64)) }}
{{ printf "%s.requests.%s (%v) is more than %s.limits.%s (%v)." $where $resource $request $where $resource $limit }}
{{- end }}
{{- end }}
{{- end }}
{{- if $memory }}
{{- if lt $bytes 201326592 }}
{{ printf "resources.limits.memory is %s, of which the gateway takes 128 MiB before it serves anybody. Give it 192Mi or more." $memory }}
{{- end }}
{{- range .extraEnv }}
{{- if eq .name "NODE_OPTIONS" }}
{{- $heap := regexFind "max[-_]old[-_]space[-_]size=[0-9]+" (toString .value) | splitList "=" | last }}
{{- if and $heap (ge (mul (int64 $heap) 1048576) $bytes) }}
{{ printf "extraEnv gives Node a heap of %s MiB in NODE_OPTIONS, which does not fit into resources.limits.memory (%s): the container would be killed." $heap $memory }}
{{- end }}
{{- end }}
{{- end }}
{{- range $setting, $each := dict "maxConnections" 25600 "maxOpenReads" 51200 }}
{{- $fit := max 0 (div (sub $bytes 134217728) $each) }}
{{- $given := int64 (index $.Values.settings $setting) }}
{{- if gt $given $fit }}
{{ printf "settings.%s is %d, of which at most %d fit into resources.limits.memory (%s): the container would be killed. Raise the limit, or leave %s at null for what fits." $setting $given $fit $memory $setting }}
{{- end }}
{{- end }}
{{- if not .settings.maxOpenReads }}
{{- $cap = min 40000 (max 100 (div (mul (sub $bytes 134217728) 6) 512000)) }}
{{- end }}
{{- end }}
{{- if and .settings.maxOpenReads .settings.maxConnections (gt (int64 .settings.maxOpenReads) (int64 .settings.maxConnections)) }}
{{ printf "settings.maxOpenReads is %d, more than settings.maxConnections (%d): each read has a connection." (int64 .settings.maxOpenReads) (int64 .settings.maxConnections) }}
{{- end }}
{{- range $scaler := list "autoscaling" "keda" }}
{{- with index $.Values $scaler }}
{{- if and .enabled (.openReads).enabled (gt (int64 .openReads.averageValue) (int64 $cap)) }}
{{ printf "%s.openReads.averageValue is %d, more than the %d reads that a pod takes: it would turn readers away and never scale. Aim at two thirds of that." $scaler (int64 .openReads.averageValue) (int64 $cap) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "agent-gateway.problems.copies" }}
{{- with .Values }}
{{- if and .autoscaling.enabled .keda.enabled }}
autoscaling.enabled and keda.enabled are both on: they would fight over the number of copies. Turn one off.
{{- end }}
{{- range $scaler := list "autoscaling" "keda" }}
{{- with index $.Values $scaler }}
{{- if and .enabled (gt (int .minReplicas) (int .maxReplicas)) }}
{{ printf "%s.minReplicas is more than %s.maxReplicas." $scaler $scaler }}
{{- end }}
{{- end }}
{{- end }}
{{- with .autoscaling }}
{{- if .enabled }}
{{- if and .openReads.enabled (not (and .openReads.metricName .openReads.averageValue)) }}
autoscaling.openReads needs metricName and averageValue.
{{- end }}
{{- if not (or .targetCPUUtilizationPercentage .targetMemoryUtilizationPercentage .openReads.enabled .extraMetrics) }}
autoscaling has nothing to scale on: give targetCPUUtilizationPercentage, targetMemoryUtilizationPercentage, openReads or extraMetrics.
{{- end }}
{{- range $target, $resource := dict "targetCPUUtilizationPercentage" "cpu" "targetMemoryUtilizationPercentage" "memory" }}
{{- if and (index $.Values.autoscaling $target) (not (dig "requests" $resource "" $.Values.resources)) }}
{{ printf "autoscaling.%s is a share of resources.requests.%s, which is not set." $target $resource }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- if .keda.enabled }}
{{- if and (.keda.openReads).enabled (not (and .keda.openReads.serverAddress .keda.openReads.averageValue)) }}
keda.openReads needs serverAddress and averageValue.
{{- end }}
{{- if not (or (.keda.openReads).enabled .keda.triggers) }}
keda has nothing to scale on: give openReads or triggers.
{{- end }}
{{- end }}
{{- with lookup "apps/v1" "Deployment" (include "agent-gateway.namespace" $) (include "agent-gateway.fullname" $) }}
{{- $wasScaled := eq (dig "agent-gateway/copies" "" (default dict .metadata.annotations)) "scaled" }}
{{- if and $.Release.IsUpgrade (not (include "agent-gateway.isScaled" $)) $wasScaled (lt (int64 $.Values.replicaCount) (int64 .spec.replicas)) }}
{{ printf "%d copies run, as a scaler set them, and this upgrade would take the scaler away and leave %d. Set replicaCount to %d for this upgrade, and change it in the next." (int64 .spec.replicas) (int64 $.Values.replicaCount) (int64 .spec.replicas) }}
{{- end }}
{{- /* Helm removes a number that the last revision had and this one has not, and Kubernetes takes 1 instead. */}}
{{- if and $.Release.IsUpgrade (include "agent-gateway.isScaled" $) (not $wasScaled) }}
{{ printf "%d copies run, and this upgrade would stop all but one, because the last revision of the release names a number of copies and one with a scaler must not. See docs/kubernetes.md, \"Switch a scaler on\"." (int64 .spec.replicas) }}
{{- end }}
{{- end }}

{{- if .pdb.enabled }}
{{- $hasMax := not (kindIs "invalid" .pdb.maxUnavailable) }}
{{- $hasMin := not (kindIs "invalid" .pdb.minAvailable) }}
{{- if not (or $hasMax $hasMin) }}
pdb needs maxUnavailable or minAvailable.
{{- else if and $hasMax $hasMin }}
pdb has both maxUnavailable and minAvailable: Kubernetes takes one. Set the other to null.
{{- end }}
{{- $copies := include "agent-gateway.minReplicas" $ | int }}
{{- if gt $copies 1 }}
{{- if $hasMin }}
{{- $min := toString .pdb.minAvailable }}
{{- $kept := ternary (div (add (mul $copies (trimSuffix "%" $min | int)) 99) 100) (int $min) (hasSuffix "%" $min) }}
{{- if ge (int $kept) $copies }}
{{ printf "pdb.minAvailable is %s of %d copies, which lets no pod go: no node could be emptied. Use pdb.maxUnavailable: 1 instead." $min $copies }}
{{- end }}
{{- else if and $hasMax (eq (trimSuffix "%" (toString .pdb.maxUnavailable) | int) 0) }}
pdb.maxUnavailable is 0, which lets no pod go: no node could be emptied. Use 1.
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "agent-gateway.problems.rollout" }}
{{- with .Values }}
{{- $drainMs := int64 (default 25000 .settings.drainTimeoutMs) }}
{{- $needed := add (int64 .preStopSleepSeconds) (div (add $drainMs 999) 1000) }}
{{- if lt (int64 .terminationGracePeriodSeconds) $needed }}
{{ printf "terminationGracePeriodSeconds is %d, which is shorter than preStopSleepSeconds (%d) and settings.drainTimeoutMs (%d) together: a draining pod would be killed. Make it at least %d." (int64 .terminationGracePeriodSeconds) (int64 .preStopSleepSeconds) $drainMs $needed }}
{{- end }}
{{- with .updateStrategy }}
{{- $rolling := default dict .rollingUpdate }}
{{- if and (eq .type "Recreate") $rolling }}
updateStrategy.type Recreate takes no rollingUpdate, of which the chart has some by default: set updateStrategy.rollingUpdate to null.
{{- else if and (eq (trimSuffix "%" (toString (dig "maxSurge" "25%" $rolling)) | int) 0) (eq (trimSuffix "%" (toString (dig "maxUnavailable" "25%" $rolling)) | int) 0) }}
updateStrategy.rollingUpdate has both maxSurge and maxUnavailable at 0: no pod could be replaced. Use maxSurge 1.
{{- end }}
{{- end }}
{{- end }}
{{- end }}
