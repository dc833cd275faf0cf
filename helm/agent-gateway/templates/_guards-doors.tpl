{{- define "agent-gateway.problems.service" }}
{{- if and (regexMatch "^[0-9]" (include "agent-gateway.fullname" .)) (semverCompare "<1.36.0-0" .Capabilities.KubeVersion.Version) }}
{{ printf "The name of the objects is %s, and a Service of this Kubernetes must begin with a letter. Set fullnameOverride." (include "agent-gateway.fullname" .) }}
{{- end }}
{{- with .Values.service }}
{{- if and .nodePort (eq .type "ClusterIP") }}
service.nodePort needs service.type NodePort or LoadBalancer: a ClusterIP has no port on the nodes.
{{- end }}
{{- if and .externalTrafficPolicy (eq .type "ClusterIP") }}
service.externalTrafficPolicy needs service.type NodePort or LoadBalancer.
{{- end }}
{{- if and (eq (toString .clusterIP) "None") (ne .type "ClusterIP") }}
service.clusterIP None needs service.type ClusterIP: the other kinds pass on to an address inside the cluster.
{{- end }}
{{- $isDual := hasSuffix "DualStack" .ipFamilyPolicy }}
{{- $host := $.Values.settings.host | default "" | toString }}
{{- if and (or (has "IPv6" .ipFamilies) $isDual) $host (not (contains ":" $host)) }}
{{ printf "%s, and settings.host is %v, where nobody reaches the gateway over IPv6. Leave it out: then the gateway listens on both." (ternary (printf "service.ipFamilyPolicy is %s" .ipFamilyPolicy) "service.ipFamilies has IPv6" $isDual) $host }}
{{- end }}
{{- range $name := list "loadBalancerIP" "loadBalancerClass" "loadBalancerSourceRanges" }}
{{- if and (index $.Values.service $name) (ne $.Values.service.type "LoadBalancer") }}
{{ printf "service.%s needs service.type LoadBalancer." $name }}
{{- end }}
{{- end }}
{{- if and (gt (len .ipFamilies) 1) (not $isDual) }}
service.ipFamilies has two families, which needs service.ipFamilyPolicy PreferDualStack or RequireDualStack.
{{- end }}
{{- end }}
{{- end }}

{{- define "agent-gateway.problems.doors" }}
{{- with .Values }}
{{- range $door := list "ingress" "httpRoute" }}
{{- range $path := index $.Values $door "paths" }}
{{- if or (eq $path "/") (regexMatch "^/registry(/|$)" $path) }}
{{ printf "%s.paths has %s, which lets /registry in, Restate's admin API. Name the paths that clients use, and turn %s.registry.enabled on where operators come from outside." $door $path $door }}
{{- end }}
{{- end }}
{{- end }}
{{- if and .ingress.enabled (not .ingress.hosts) }}
ingress.hosts is required where ingress.enabled is on.
{{- end }}
{{- if and .httpRoute.enabled (not .httpRoute.parentRefs) }}
httpRoute.parentRefs is required where httpRoute.enabled is on: the Gateway to attach to.
{{- end }}
{{- with .networkPolicy }}
{{- if .enabled }}
{{- if not .clients }}
networkPolicy.clients is required where networkPolicy.enabled is on: without it nobody reaches the gateway.
{{- end }}
{{- if not .dns }}
networkPolicy.dns is required where networkPolicy.enabled is on: without DNS no upstream is found.
{{- end }}
{{- range $rules, $peers := dict "extraIngress" "from" "extraEgress" "to" }}
{{- range $index, $rule := index $.Values.networkPolicy $rules }}
{{- if not (index $rule $peers) }}
{{ printf "networkPolicy.%s[%d] has nothing in %q, which opens its ports to everyone. Say who it is; everyone is ipBlock 0.0.0.0/0 and ::/0." $rules $index $peers }}
{{- end }}
{{- end }}
{{- end }}
{{- range $monitor := list "serviceMonitor" "podMonitor" }}
{{- if and (index $.Values $monitor | default dict).enabled (not $.Values.networkPolicy.monitoring) }}
{{ printf "networkPolicy.monitoring is required where both networkPolicy.enabled and %s.enabled are on: without it Prometheus does not reach the metrics." $monitor }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* What load balancers of clouds do by themselves takes pods out that work, and cuts off what drains. */}}
{{- define "agent-gateway.problems.clouds" }}
{{- $needed := add (int64 .Values.preStopSleepSeconds) (div (add (int64 (default 25000 .Values.settings.drainTimeoutMs)) 999) 1000) }}
{{- $paths := list }}
{{- $own := dict }}
{{- if .Values.ingress.enabled }}
{{- $own = .Values.ingress.annotations }}
{{- if eq .Values.ingress.className "alb" }}{{ $paths = append $paths "alb.ingress.kubernetes.io/healthcheck-path" }}{{ end }}
{{- if eq .Values.ingress.className "azure-application-gateway" }}{{ $paths = append $paths "appgw.ingress.kubernetes.io/health-probe-path" }}{{ end }}
{{- end }}
{{- range $paths }}
{{- $path := default "" (get $own .) }}
{{- if not (has $path (list "/health" "/health/ready")) }}
{{ printf "ingress.annotations: %s is %q, where the gateway has nothing: the load balancer would take every pod for broken. Use /health." . $path }}
{{- end }}
{{- end }}
{{- range $name, $value := merge (deepCopy $own) .Values.service.annotations }}
{{- $delay := regexFind "deregistration_delay.timeout_seconds=[0-9]+" $value | splitList "=" | last }}
{{- if and (hasSuffix "/connection-draining-timeout" $name) $value }}{{ $delay = $value }}{{ end }}
{{- if and $delay (lt (int64 $delay) $needed) }}
{{ printf "%s: %s is %s, which is shorter than preStopSleepSeconds and settings.drainTimeoutMs together: the load balancer would cut off what drains. Make it at least %d." $name (ternary "deregistration_delay.timeout_seconds" "connection-draining-timeout" (contains "deregistration" $value)) $delay $needed }}
{{- end }}
{{- $idle := regexFind "idle_timeout.timeout_seconds=[0-9]+" $value | splitList "=" | last }}
{{- if and $idle (ge (int64 $idle) 75) (contains "load-balancer-attributes" $name) }}
{{ printf "%s: idle_timeout.timeout_seconds is %s, and the gateway closes idle connections after 75 s: the load balancer would send requests into closed ones. Use 70." $name $idle }}
{{- end }}
{{- end }}
{{- end }}

{{- define "agent-gateway.problems.monitoring" }}
{{- $byPod := (.Values.podMonitor).enabled }}
{{- if and .Values.prometheusRule.enabled (not (or .Values.serviceMonitor.enabled $byPod)) }}
prometheusRule.enabled needs serviceMonitor.enabled or podMonitor.enabled: its alerts are on the targets of that.
{{- end }}
{{- if and .Values.serviceMonitor.enabled $byPod }}
serviceMonitor.enabled and podMonitor.enabled are both on: each pod would be scraped twice, and counted twice. Turn one off.
{{- end }}
{{- end }}
