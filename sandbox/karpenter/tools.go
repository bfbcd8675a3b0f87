//go:build tools

// Package karpenter pins the release of Karpenter whose CRDs the sandbox installs.
package karpenter

import _ "sigs.k8s.io/karpenter/pkg/apis"
