//go:build test_performance

// Added to a copy of Karpenter's own benchmark: hands out the very input that is solved, and prices what comes of it.
package scheduling_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	fakecr "sigs.k8s.io/controller-runtime/pkg/client/fake"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/fake"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/injection"
	"sigs.k8s.io/karpenter/pkg/operator/options"
	"sigs.k8s.io/karpenter/pkg/test"
)

const sizes = 400

// task is one case, as the caller says it in KPU_TASK.
type task struct {
	// Kind of Pods: mix, unlike (the mix, no two of which ask for the same), plain (unlike without any rules), wishful.
	Kind  string
	Pods  int
	Nodes int
	Seed  int64
	// Input is the file that the input is written to; empty: it is not.
	Input string
	// Solve is false when only the input is wanted.
	Solve bool
}

type outcome struct {
	// Seconds of Solve alone, without what is prepared before.
	Seconds float64
	Claims  int
	// OnNodes counts Pods on nodes that were there.
	OnNodes int
	// Price in USD per hour, each claim as its cheapest machine.
	Price float64
	// PeakMiB is the most that the process held, up to the end of Solve.
	PeakMiB float64
}

func TestPriced(t *testing.T) {
	var asked task
	if err := json.Unmarshal([]byte(os.Getenv("KPU_TASK")), &asked); err != nil {
		t.Skip("KPU_TASK names no case")
	}
	r = rand.New(rand.NewSource(asked.Seed))
	pods := podsOf(asked)
	nodes := nearlyFull(asked.Nodes)
	if asked.Input != "" {
		if err := writeInput(asked.Input, pods, nodes); err != nil {
			t.Fatal(err)
		}
	}
	if asked.Solve {
		warmUp(t)
		text, _ := json.Marshal(solve(t, pods, nodes))
		fmt.Printf("priced %s\n", text)
	}
}

func podsOf(asked task) []*corev1.Pod {
	switch asked.Kind {
	case "mix":
		return makeDiversePods(asked.Pods)
	case "unlike":
		return unlike(makeDiversePods(asked.Pods))
	case "plain":
		return unlike(makeGenericPods(asked.Pods))
	case "wishful":
		return makePreferencePods(asked.Pods)
	}
	panic("unknown kind " + asked.Kind)
}

// unlike gives each Pod an amount of memory that no other has, between 100 MiB and about 4 GiB as in the mix.
func unlike(pods []*corev1.Pod) []*corev1.Pod {
	span := int64(4000 << 20)
	for i, pod := range pods {
		bytes := int64(100<<20) + span*int64(i)/int64(len(pods))
		pod.Spec.Containers[0].Resources.Requests[corev1.ResourceMemory] = *resource.NewQuantity(bytes, resource.BinarySI)
	}
	r.Shuffle(len(pods), func(i, j int) {
		a, b := pods[i].Spec.Containers[0].Resources.Requests, pods[j].Spec.Containers[0].Resources.Requests
		a[corev1.ResourceMemory], b[corev1.ResourceMemory] = b[corev1.ResourceMemory], a[corev1.ResourceMemory]
	})
	return pods
}

// nearlyFull makes nodes in three zones with room for one small Pod of the mix each.
func nearlyFull(count int) []*state.StateNode {
	room := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("100m"),
		corev1.ResourceMemory: resource.MustParse("1Gi"),
		corev1.ResourcePods:   resource.MustParse("70"),
	}
	nodes := make([]*state.StateNode, count)
	for i := range nodes {
		name := fmt.Sprintf("node-%d", i)
		labels := map[string]string{
			v1.NodePoolLabelKey:            "there",
			v1.NodeRegisteredLabelKey:      "true",
			v1.NodeInitializedLabelKey:     "true",
			corev1.LabelHostname:           name,
			corev1.LabelTopologyZone:       fmt.Sprintf("test-zone-%d", i%3+1),
			corev1.LabelInstanceTypeStable: "fake-it-7",
		}
		claim := test.NodeClaim(v1.NodeClaim{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
			Status:     v1.NodeClaimStatus{NodeName: name, Capacity: room, Allocatable: room},
		})
		node := test.NodeClaimLinkedNode(claim)
		node.Name, node.Labels = name, labels
		node.Spec.Taints = nil // it has registered
		nodes[i] = state.NewNode()
		nodes[i].Node, nodes[i].NodeClaim = node, claim
	}
	return nodes
}

// warmUp pays for what a process does only once.
func warmUp(t *testing.T) {
	ahead := r
	r = rand.New(rand.NewSource(1))
	solve(t, makeDiversePods(100), nil)
	r = ahead
}

func solve(t *testing.T, pods []*corev1.Pod, nodes []*state.StateNode) outcome {
	ctx = options.ToContext(injection.WithControllerName(context.Background(), "provisioner"), test.Options())
	scheduler, err := schedulerFor(pods, nodes)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	results, err := scheduler.Solve(ctx, pods)
	took := time.Since(began)
	if err != nil {
		t.Fatal(err)
	}
	if len(results.PodErrors) > 0 {
		t.Fatalf("%d Pods got no place", len(results.PodErrors))
	}
	found := outcome{Seconds: took.Seconds(), Claims: len(results.NewNodeClaims), PeakMiB: peakMiB()}
	for _, claim := range results.NewNodeClaims {
		found.Price += priceOf(claim)
	}
	for _, node := range results.ExistingNodes {
		found.OnNodes += len(node.Pods)
	}
	return found
}

// schedulerFor is upstream's own preparation, and the same with nodes where there are some, which upstream's has not.
func schedulerFor(pods []*corev1.Pod, nodes []*state.StateNode) (*scheduling.Scheduler, error) {
	workers := scheduling.NumConcurrentReconciles(5)
	if len(nodes) == 0 {
		return setupScheduler(ctx, pods, workers)
	}
	limit := v1.Limits{corev1.ResourceCPU: resource.MustParse("10000000"), corev1.ResourceMemory: resource.MustParse("10000000Gi")}
	pool := test.NodePool(v1.NodePool{Spec: v1.NodePoolSpec{Limits: limit}})
	pools := []*v1.NodePool{pool}
	provider := fake.NewCloudProvider()
	provider.InstanceTypes = fake.InstanceTypes(sizes)
	types := map[string][]*cloudprovider.InstanceType{pool.Name: provider.InstanceTypes}
	client, now := fakecr.NewFakeClient(), &clock.RealClock{}
	known := state.NewCluster(now, client, provider)
	topology, err := scheduling.NewTopology(ctx, client, known, nodes, pools, types, pods, workers)
	if err != nil {
		return nil, err
	}
	recorder := events.NewRecorder(&record.FakeRecorder{})
	return scheduling.NewScheduler(ctx, client, pools, known, nodes, topology, types, nil, recorder, now, nil, nil, workers), nil
}

func priceOf(claim *scheduling.NodeClaim) float64 {
	least := -1.0
	for _, size := range claim.InstanceTypeOptions {
		for _, offering := range size.Offerings.Launchable().Compatible(claim.Requirements) {
			if least < 0 || offering.Price < least {
				least = offering.Price
			}
		}
	}
	if least < 0 {
		panic("a claim that no machine suits")
	}
	return least
}

func peakMiB() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return float64(usage.Maxrss) / 1024
}

type offeringOf struct {
	Zone, CapacityType string
	Price              float64
}

type sizeOf struct {
	Name        string
	Capacity    corev1.ResourceList
	Allocatable corev1.ResourceList
	Offerings   []offeringOf
}

type nodeOf struct {
	Name        string
	Labels      map[string]string
	Allocatable corev1.ResourceList
}

// writeInput hands Pods out as the API server would, sizes and nodes with what counts of them.
func writeInput(path string, pods []*corev1.Pod, nodes []*state.StateNode) error {
	input := struct {
		Pods  []*corev1.Pod
		Sizes []sizeOf
		Nodes []nodeOf
	}{Pods: pods, Sizes: []sizeOf{}, Nodes: []nodeOf{}}
	for _, size := range fake.InstanceTypes(sizes) {
		one := sizeOf{Name: size.Name, Capacity: size.Capacity, Allocatable: size.Allocatable()}
		for _, offering := range size.Offerings {
			one.Offerings = append(one.Offerings, offeringOf{offering.Zone(), offering.CapacityType(), offering.Price})
		}
		input.Sizes = append(input.Sizes, one)
	}
	for _, node := range nodes {
		input.Nodes = append(input.Nodes, nodeOf{node.Name(), node.Labels(), node.Available()})
	}
	text, err := json.Marshal(input)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}
